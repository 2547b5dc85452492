// What the resizing ops share: their shapes, and where an output pixel lies in the input.
#pragma once

#include "sextant/tensor/tensor.h"

namespace sextant {

// How coordinates of the output map to the input along one side.
struct ResizeMode {
  bool align_corners = false;       // the centres of the corner pixels coincide
  bool half_pixel_centers = false;  // pixels are squares, not points

  // Throws INVALID_ARGUMENT when both are set.
  void Check() const;
  // Input pixels to one output pixel.
  float Scale(int64_t in, int64_t out) const {
    return align_corners && out > 1 ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                    : static_cast<float>(in) / static_cast<float>(out);
  }
  // The place of output pixel i in the input.
  float Place(int64_t i, float scale) const {
    return half_pixel_centers ? (static_cast<float>(i) + 0.5F) * scale - 0.5F
                              : static_cast<float>(i) * scale;
  }
};

// Images [batch, height, width, channels] resized.
struct ResizeGeometry {
  int64_t batch, in_height, in_width, out_height, out_width, channels;

  Shape in_shape() const { return {batch, in_height, in_width, channels}; }
  Shape out_shape() const { return {batch, out_height, out_width, channels}; }
  int64_t in_row() const { return in_width * channels; }
  int64_t out_row() const { return out_width * channels; }
};

// From images and the wanted [height, width]. Throws INVALID_ARGUMENT unless images have pixels and
// the sizes are positive.
ResizeGeometry GeometryOf(const Tensor& images, const Tensor& size);
// Of the gradient: from the gradient of the output and the original images.
ResizeGeometry GradGeometryOf(const Tensor& grads, const Tensor& original);

}  // namespace sextant
