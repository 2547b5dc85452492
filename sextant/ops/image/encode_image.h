// EncodePng, EncodeJpeg, EncodeJpegVariableQuality: pixels to encoded images.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API EncodePngOptions {
  int64_t compression = -1;  // 0 fast to 9 small; -1: zlib's default
};
// image[..., height, width, channels] of uint8 or uint16 with 1 to 4 channels; a file for each.
Output EncodePng(Output image, const EncodePngOptions& options = {});

struct SEXTANT_API EncodeJpegOptions {
  std::string format = "";  // "grayscale", "rgb", or as there are channels
  int64_t quality = 95;     // 0 to 100
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;
  std::string density_unit = "in";  // or "cm"
  int64_t x_density = 300;
  int64_t y_density = 300;
  std::string xmp_metadata = "";
};
// image[height, width, 1 or 3] of uint8.
Output EncodeJpeg(Output image, const EncodeJpegOptions& options = {});
// The same with the quality as a tensor.
Output EncodeJpegVariableQuality(Output image, Output quality);

}  // namespace sextant

#pragma GCC visibility pop
