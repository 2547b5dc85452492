// What image pipelines are made of, composed of other ops as TensorFlow's Python does. Images are
// [height, width, channels] or batches of them, with a known rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

Output FlipLeftRight(Output image);
Output FlipUpDown(Output image);

struct SEXTANT_API RandomImageOptions {
  std::optional<int64_t> seed = {};  // see random.h
};
// Flipped with probability 1/2, each image of a batch by itself.
Output RandomFlipLeftRight(Output image, const RandomImageOptions& options = {});
Output RandomFlipUpDown(Output image, const RandomImageOptions& options = {});

// Rows [y, y + height) and columns [x, x + width).
Output CropToBoundingBox(Output image, int64_t y, int64_t x, int64_t height, int64_t width);
// Zeros round the image, which starts at row y and column x of the height by width rectangle.
Output PadToBoundingBox(Output image, int64_t y, int64_t x, int64_t height, int64_t width);
// The middle of the image, with zeros round it where it is too small.
Output ResizeWithCropOrPad(Output image, int64_t height, int64_t width);
// A box of this size from a random place of a tensor of as many dimensions.
Output RandomCrop(Output value, const std::vector<int64_t>& size,
                  const RandomImageOptions& options = {});

// (x - mean) / max(stddev, 1 / sqrt(number of elements)) of each image, as float.
Output PerImageStandardization(Output image);
// x + delta, where integers stand for [0, 1] of their range and stay within it.
Output AdjustBrightness(Output image, float delta);
Output AdjustBrightness(Output image, Output delta);
// By a delta drawn from [-max_delta, max_delta) for the whole tensor.
Output RandomBrightness(Output image, float max_delta, const RandomImageOptions& options = {});
// The contrast changed by a factor drawn from [lower, upper) for the whole tensor (AdjustContrast
// of color.h); integers stand for [0, 1] of their range and stay within it.
Output RandomContrast(Output image, float lower, float upper,
                      const RandomImageOptions& options = {});

struct SEXTANT_API ConvertImageOptions {
  bool saturate = false;  // what does not fit becomes the nearest value that does
};
// The image in another type; integers stand for [0, 1] of their range.
Output ConvertImageDtype(Output image, DType dtype, const ConvertImageOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
