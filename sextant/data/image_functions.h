// Functions on images: tensors [height, width, channels] of uint8 or float. What is not random
// gives the values of the function of tf.image named.
//
// All may be called from any thread and throw INVALID_ARGUMENT when shapes or types do not fit.
// Random ones draw from the stream they are given, usually MapContext::random.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/base/export.h"
#include "sextant/base/philox.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::data {

// The pixels of a PNG, JPEG, GIF (first frame) or BMP file as uint8; channels 0: as in the file.
Tensor DecodeImage(std::string_view bytes, int channels = 0);

// [channels, height, width] to [height, width, channels].
Tensor ToHwc(const Tensor& image);
// The same numbers as floats.
Tensor ToFloat(const Tensor& image);

// pad_to_bounding_box: the image from (y, x) on in a height by width rectangle of zeros.
Tensor PadImage(const Tensor& image, int64_t y, int64_t x, int64_t height, int64_t width);
// crop_to_bounding_box: the height by width rectangle from (y, x) on.
Tensor CropImage(const Tensor& image, int64_t y, int64_t x, int64_t height, int64_t width);
// resize_with_crop_or_pad: the middle of the image, zeros round it where it is too small.
Tensor CropOrPad(const Tensor& image, int64_t height, int64_t width);
Tensor RandomCrop(const Tensor& image, int64_t height, int64_t width, Philox& random);

// flip_left_right, flip_up_down
Tensor FlipLeftRight(const Tensor& image);
Tensor FlipUpDown(const Tensor& image);
// Flipped left to right with probability 1/2.
Tensor RandomFlip(const Tensor& image, Philox& random);

// adjust_brightness: adds delta; uint8 stands for [0, 1] and stays within it.
Tensor AdjustBrightness(const Tensor& image, float delta);
// By a delta in [-max_delta, max_delta).
Tensor RandomBrightness(const Tensor& image, float max_delta, Philox& random);
// adjust_contrast: (x - mean) * factor + mean, with the mean of each channel.
Tensor AdjustContrast(const Tensor& image, float factor);
// By a factor in [lower, upper).
Tensor RandomContrast(const Tensor& image, float lower, float upper, Philox& random);

// per_image_standardization: (x - mean) / max(stddev, 1 / sqrt(number of elements)) as float.
Tensor Standardize(const Tensor& image);
// tf.image.resize with method bilinear, without antialias, as float.
Tensor Resize(const Tensor& image, int64_t height, int64_t width);

// Zero padding on all sides, a crop of the original size from a random place and a flip with
// probability 1/2, from channel-major uint8 pixels (as CIFAR-10 has them) to float [height, width,
// channels] in one pass.
struct SEXTANT_API PadCropFlipOptions {
  int64_t pad = 4;
  // Written: (pixel - offset) * scale; padding is zero before that.
  float offset = 0.0f;
  float scale = 1.0f;
};
// images: uint8 [channels, height, width] or [count, ...]; *out, made if it is not valid: float
// [height, width, channels] or [count, ...]. Every image takes one block of the stream: words 0 and
// 1 place the crop, the lowest bit of word 2 flips.
void PadCropFlip(const Tensor& images, const PadCropFlipOptions& options, Philox& random,
                 Tensor* out);
Tensor PadCropFlip(const Tensor& images, const PadCropFlipOptions& options, Philox& random);
// The same without the distortion.
void HwcFloats(const Tensor& images, Tensor* out);
Tensor HwcFloats(const Tensor& images);

}  // namespace sextant::data

#pragma GCC visibility pop
