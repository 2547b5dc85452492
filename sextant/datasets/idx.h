// The idx files of MNIST: arrays of bytes with their dimensions in front, gzipped or not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

struct SEXTANT_API IdxArray {
  std::vector<int64_t> shape;  // sizes of the dimensions
  std::string bytes;           // row by row
};

// Reads a file, compressed if it begins as gzip does. Throws DATA_LOSS with the path when it is no
// idx file of bytes, or cut off.
IdxArray ReadIdx(const std::string& path);

void WriteIdx(const std::string& path, const IdxArray& array);

}  // namespace sextant::datasets

#pragma GCC visibility pop
