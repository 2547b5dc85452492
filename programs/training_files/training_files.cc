#include "training_files/training_files.h"

#include <algorithm>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace programs {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool Matches(std::string_view name, std::string_view pattern) {
  if (pattern.empty()) return name.empty();
  const std::string_view rest = pattern.substr(1);
  if (pattern[0] == '*') {
    return Matches(name, rest) || (!name.empty() && Matches(name.substr(1), pattern));
  }
  if (name.empty()) return false;
  if (pattern[0] == '#') {
    return IsDigit(name[0]) && (Matches(name.substr(1), rest) || Matches(name.substr(1), pattern));
  }
  return name[0] == pattern[0] && Matches(name.substr(1), rest);
}

// "checkpoint" of "checkpoint.tmp-00f3-71-2".
std::string_view Finished(std::string_view name) {
  const size_t mark = name.rfind(".tmp-");
  return mark != std::string_view::npos && Matches(name.substr(mark), ".tmp-*-#-#")
             ? name.substr(0, mark)
             : name;
}

std::string FirstForeign(sx::FileSystem& files, const std::string& directory,
                         const std::string& prefix, const FilePatterns& patterns) {
  for (const std::string& name : files.ListDirectory(directory)) {
    const std::string path = sx::JoinPath(directory, name);
    std::string shown = prefix + name;
    if (files.Stat(path).is_directory) {
      shown += '/';
      if (!files.ListDirectory(path).empty()) {
        std::string inside = FirstForeign(files, path, shown, patterns);
        if (!inside.empty()) return inside;
        continue;
      }
    }
    const std::string_view finished = Finished(shown);
    if (std::ranges::none_of(patterns, [&](auto pattern) { return Matches(finished, pattern); })) {
      return shown;
    }
  }
  return "";
}

}  // namespace

const FilePatterns& CheckpointsAndEvents() {
  static const FilePatterns patterns = {"checkpoint",
                                        "checkpoint.journal",
                                        "model.ckpt-#.index",
                                        "model.ckpt-#.meta",
                                        "model.ckpt-#.data-#-of-#",
                                        "model.ckpt-#.data-#-of-#.tempstate#",
                                        "model.ckpt-#_temp_*/*",
                                        "events.out.tfevents.*"};
  return patterns;
}

std::string FirstForeignFile(const std::string& directory, const FilePatterns& patterns) {
  sx::FileSystem& files = sx::FileSystem::ForPath(directory);
  return files.Exists(directory) ? FirstForeign(files, directory, "", patterns) : "";
}

}  // namespace programs
