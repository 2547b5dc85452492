// Fetching a file by HTTP, with resume and a check of what arrived.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

// A file as its authors publish it.
struct SEXTANT_API PublishedFile {
  std::string name;               // without directories
  std::vector<std::string> urls;  // tried in this order
  uint64_t size = 0;              // 0 when not known
  std::string digest;             // "md5:..." or "sha256:..." in hex; "" when not known
};

// Leaves the file in `folder`, which is made when bytes arrive, and returns its path. A file of the
// right size and digest that is there already is taken as it is (*was_there). What arrives is kept
// in "<name>.part" until it is whole, so that the next call goes on where this one was cut off.
// Shows progress on a terminal. Throws UNAVAILABLE when no URL works, DATA_LOSS when a file of
// another size or digest arrived, FAILED_PRECONDITION when the folder is a file, CANCELLED after
// SIGINT.
std::string Download(const PublishedFile& file, const std::string& folder, bool* was_there);

}  // namespace sextant::datasets

#pragma GCC visibility pop
