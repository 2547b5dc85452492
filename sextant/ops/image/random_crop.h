// A random part of an image that keeps enough of one of some boxes; equal streams give TensorFlow's
// choice.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "sextant/base/philox.h"

namespace sextant {

// Rows [top, bottom) and columns [left, right).
struct PixelBox {
  int64_t top, left, bottom, right;
};

struct RandomCropOptions {
  std::pair<float, float> aspect_ratio;  // width by height
  std::pair<float, float> area;          // of the image's
  float min_covered = 0.1F;              // of the area of one of the boxes
  int64_t max_attempts = 100;            // then it is the whole image
};
PixelBox RandomCropBox(const RandomCropOptions& options, std::span<const PixelBox> boxes,
                       int64_t height, int64_t width, Philox generator);

}  // namespace sextant
