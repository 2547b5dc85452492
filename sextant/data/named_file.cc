#include "sextant/data/named_file.h"

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant::data {

std::string NamedFile(const std::string& name, const std::string& folder, const std::string& file) {
  const char* const root = std::getenv("SEXTANT_DATA");
  const std::string place = folder.empty() ? JoinPath(root ? root : "data", name) : folder;
  std::string path = JoinPath(place, file);
  if (!FileSystem::ForPath(path).Exists(path)) {
    throw NotFound("{}: no such file; make it with `sextant data {} --out {}`", path, name, place);
  }
  return path;
}

}  // namespace sextant::data
