// JPEG files, by libjpeg-turbo.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sextant/formats/image/pixels.h"

namespace sextant {

struct CropWindow {
  int64_t y = 0, x = 0, height = 0, width = 0;
};

struct JpegReadOptions {
  int channels = 0;  // 1 gray, 3 RGB; 0: as in the file (CMYK becomes RGB)
  int ratio = 1;     // both sides are divided by 1, 2, 4 or 8
  bool fancy_upscaling = true;
  bool accurate = false;  // the slower, more exact transform
  // What is missing where the data ends early is gray or repeats what is there; else an error.
  bool try_recover_truncated = false;
  std::optional<CropWindow> crop = {};  // only this part, in pixels after division by "ratio"
};
void ReadJpeg(std::string_view bytes, const JpegReadOptions& options, PixelAllocator allocate);

// The size from the header alone.
ImageSize ReadJpegSize(std::string_view bytes);

struct JpegWriteOptions {
  int quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  bool density_in_cm = false;  // else inches
  int x_density = 300, y_density = 300;
  std::string xmp_metadata = {};
};
// Throws INVALID_ARGUMENT unless there are 1 or 3 channels.
std::string WriteJpeg(const uint8_t* pixels, const ImageSize& size,
                      const JpegWriteOptions& options);

}  // namespace sextant
