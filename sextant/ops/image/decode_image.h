// DecodeImage, DecodePng, DecodeJpeg, DecodeAndCropJpeg, ExtractJpegShape, DecodeGif, DecodeBmp:
// encoded images to pixels [height, width, channels], rows from the top.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API DecodeImageOptions {
  int64_t channels = 0;  // 1 gray, 3 RGB, 4 RGBA; 0: as in the file
  DType dtype = DType::kUInt8;
  // A GIF gives all its frames, [frames, height, width, 3]; else the first one alone.
  bool expand_animations = true;
};
// A JPEG, PNG, GIF or BMP file, told apart by its first bytes. Types other than uint8 hold the
// values scaled to [0, 1] (float) or to the larger range (uint16).
Output DecodeImage(Output contents, const DecodeImageOptions& options = {});

struct SEXTANT_API DecodePngOptions {
  int64_t channels = 0;
  DType dtype = DType::kUInt8;  // or kUInt16
};
// Files of the other kinds but BMP are accepted, too.
Output DecodePng(Output contents, const DecodePngOptions& options = {});

struct SEXTANT_API DecodeJpegOptions {
  int64_t channels = 0;
  int64_t ratio = 1;  // both sides are divided by 1, 2, 4 or 8
  bool fancy_upscaling = true;
  bool try_recover_truncated = false;
  float acceptable_fraction = 1.0F;
  std::string dct_method = "";  // "INTEGER_FAST", "INTEGER_ACCURATE" or the default, the first
};
// Files of the other kinds but BMP are accepted, too.
Output DecodeJpeg(Output contents, const DecodeJpegOptions& options = {});
// The part [y, x, height, width] of a JPEG image, without decoding much of the rest.
Output DecodeAndCropJpeg(Output contents, Output crop_window,
                         const DecodeJpegOptions& options = {});
// [height, width, channels] of a JPEG image, from its header.
Output ExtractJpegShape(Output contents, DType output_type = DType::kInt32);

// All frames: [frames, height, width, 3].
Output DecodeGif(Output contents);
Output DecodeBmp(Output contents, int64_t channels = 0);

}  // namespace sextant

#pragma GCC visibility pop
