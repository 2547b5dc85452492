// What the image codecs of this folder share: bytes come in, interleaved pixels go out, row by row
// from the top, to memory that the caller provides once the size is known.
//
// All functions may be called from any thread. Bytes that are not a whole image of their format
// throw INVALID_ARGUMENT; the size in a header is checked before anything is allocated for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sextant/base/function_ref.h"

namespace sextant {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
  int channels = 0;

  size_t row_elements() const { return static_cast<size_t>(width) * static_cast<size_t>(channels); }
};

// Gives room for the elements of an image of this size, aligned for their type. May throw.
using PixelAllocator = FunctionRef<void*(const ImageSize&)>;

// Throws INVALID_ARGUMENT unless the sides are positive and an image has less than 2^29 elements.
void CheckImageSize(const char* format, const ImageSize& size);

}  // namespace sextant
