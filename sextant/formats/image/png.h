// PNG files, by libpng.
#pragma once

#include <string>
#include <string_view>

#include "sextant/formats/image/pixels.h"

namespace sextant {

struct PngReadOptions {
  int channels = 0;   // 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA; 0: as in the file
  bool deep = false;  // elements are uint16_t, else uint8_t
};
// Palettes become colours, bits are scaled to the full range of the element, interlacing is undone.
void ReadPng(std::string_view bytes, const PngReadOptions& options, PixelAllocator allocate);

struct PngWriteOptions {
  bool deep = false;     // pixels are uint16_t
  int compression = -1;  // 0 fast to 9 small; -1: zlib's default
};
// Throws INVALID_ARGUMENT unless there are 1 to 4 channels.
std::string WritePng(const void* pixels, const ImageSize& size, const PngWriteOptions& options);

}  // namespace sextant
