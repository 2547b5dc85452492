// Uncompressed Windows bitmaps of 8, 24 or 32 bits a pixel.
#pragma once

#include <string_view>

#include "sextant/formats/image/pixels.h"

namespace sextant {

// channels: 3 RGB, 4 RGBA, 0 as in the file. 8-bit pixels are levels of gray: there is no palette.
void ReadBmp(std::string_view bytes, int channels, PixelAllocator allocate);

}  // namespace sextant
