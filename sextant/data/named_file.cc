#include "sextant/data/named_file.h"

#include <fmt/format.h>

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant::data {

std::string NamedFile(const std::string& name, const std::string& folder, const std::string& file) {
  const char* const root = std::getenv("SEXTANT_DATA");
  const std::string place = folder.empty() ? JoinPath(root ? root : "data", name) : folder;
  std::string path = JoinPath(place, file);
  const auto what_to_do = [&] {
    return fmt::format("make it with `sextant data {} --out {}`", name, place);
  };
  FileSystem& files = FileSystem::ForPath(path);
  if (!files.Exists(path)) throw NotFound("{}: no such file; {}", path, what_to_do());
  if (files.Stat(path).is_directory) {
    throw FailedPrecondition("{} is a folder, not a file; move it away and {}", path, what_to_do());
  }
  return path;
}

}  // namespace sextant::data
