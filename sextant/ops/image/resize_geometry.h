// ResizeGeometry: the shapes of the resizing ops.
#pragma once

#include "sextant/tensor/tensor.h"

namespace sextant {

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
