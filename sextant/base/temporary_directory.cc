#include "sextant/base/temporary_directory.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "sextant/base/error.h"

namespace sextant {

std::string NewTemporaryDirectory(const std::string& parent) {
  const char* usual = std::getenv("TMPDIR");
  if (usual == nullptr) usual = "/tmp";
  std::string path = (parent.empty() ? usual : parent) + "/sextant-";
  path.append(6, 'X');  // in their place mkdtemp writes what makes the name new
  if (mkdtemp(path.data()) == nullptr) {
    throw FailedPrecondition("cannot make a temporary directory {} ({})", path,
                             std::strerror(errno));
  }
  return path;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace sextant
