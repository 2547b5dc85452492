// The versions of a model below its base path: directories with a number for a name, each a whole
// SavedModel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"

namespace sextant {

struct SavedModelVersion {
  int64_t version = 0;
  std::string path;
  uint64_t fingerprint = 0;  // of the names, sizes and times of its files
  int64_t newest_ns = 0;     // the time of the file that changed last
};

// Those of which all files are there, sorted by number; others are passed over. "01" and "1" are
// one version. Links are followed. Throws what the file system throws for base_path.
SEXTANT_API std::vector<SavedModelVersion> ListSavedModelVersions(const std::string& base_path);

}  // namespace sextant
