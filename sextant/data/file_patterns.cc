#include "sextant/data/file_patterns.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant::data {

std::vector<std::string> ExpandPatterns(std::span<const std::string> patterns) {
  if (patterns.empty()) throw InvalidArgument("a source needs at least one file or pattern");
  std::vector<std::string> files;
  for (const std::string& pattern : patterns) {
    FileSystem& file_system = FileSystem::ForPath(pattern);
    if (file_system.Exists(pattern)) {
      files.push_back(pattern);
    } else if (pattern.find_first_of("*?[") == std::string::npos) {
      throw NotFound("{}: no such file", pattern);
    } else {
      const std::vector<std::string> matches = file_system.Glob(pattern);
      if (matches.empty()) throw NotFound("{}: no file matches this pattern", pattern);
      files.insert(files.end(), matches.begin(), matches.end());
    }
  }
  return files;
}

std::string JoinPatterns(std::span<const std::string> patterns) {
  return fmt::format("{}", fmt::join(patterns, ", "));
}

}  // namespace sextant::data
