#include "sextant/formats/saved_model_versions.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/parse_number.h"
#include "sextant/formats/saved_model_dir.h"

namespace sextant {
namespace {

struct DirectoryContent {
  uint64_t fingerprint = 0xcbf29ce484222325u;
  int64_t newest_ns = 0;

  void Mix(std::string_view bytes) {
    for (const char c : bytes) {
      fingerprint = (fingerprint ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
    }
  }
};

constexpr int kMaxDepth = 8;  // of directories in a SavedModel, against loops of links

void Look(FileSystem& files, const std::string& path, int depth, DirectoryContent* content) {
  const FileInfo info = files.Stat(path);
  content->newest_ns = std::max(content->newest_ns, info.mtime_ns);
  content->Mix(fmt::format("{} {} {}\n", BaseName(path), info.size, info.mtime_ns));
  if (!info.is_directory || depth == kMaxDepth) return;
  for (const std::string& name : files.ListDirectory(path)) {
    Look(files, JoinPath(path, name), depth + 1, content);
  }
}

// Whether all parts of the variables are there: "variables.data-00000-of-00002" says how many.
bool HasAllVariables(FileSystem& files, const std::string& path) {
  const std::string directory(DirectoryName(SavedVariablesPrefix(path)));
  if (!files.Exists(directory)) return true;  // a model without any
  const std::vector<std::string> names = files.ListDirectory(directory);
  if (names.empty()) return true;
  size_t parts = 0;
  int64_t expected = -1;
  bool index = false;
  for (const std::string& name : names) {
    if (name == "variables.index") index = true;
    if (!name.starts_with("variables.data-")) continue;
    ++parts;
    const size_t of = name.rfind("-of-");
    if (of == std::string::npos || !ParseNumber(name.substr(of + 4), &expected)) return false;
  }
  return index && expected >= 0 && parts == static_cast<size_t>(expected);
}

bool IsVersionName(const std::string& name, int64_t* version) {
  return !name.empty() && std::all_of(name.begin(), name.end(), ::isdigit) &&
         ParseNumber(name, version);
}

// What goes away, or may not be read, while one looks is passed over.
bool IsWhole(FileSystem& files, const std::string& path, DirectoryContent* content) {
  try {
    if (!files.Stat(path).is_directory || !IsSavedModelDir(path)) return false;
    if (!HasAllVariables(files, path)) return false;
    Look(files, path, 0, content);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<SavedModelVersion> ListSavedModelVersions(const std::string& base_path) {
  FileSystem& files = FileSystem::ForPath(base_path);
  std::vector<SavedModelVersion> found;
  std::set<int64_t> numbers;
  for (const std::string& name : files.ListDirectory(base_path)) {
    int64_t version = 0;
    if (!IsVersionName(name, &version)) continue;
    const std::string path = JoinPath(base_path, name);
    DirectoryContent content;
    if (!IsWhole(files, path, &content) || !numbers.insert(version).second) continue;
    found.push_back({version, path, content.fingerprint, content.newest_ns});
  }
  std::ranges::sort(found, {}, &SavedModelVersion::version);
  return found;
}

}  // namespace sextant
