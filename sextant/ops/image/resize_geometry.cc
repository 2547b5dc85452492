#include "sextant/ops/image/resize_geometry.h"

#include <limits>

#include "sextant/base/error.h"

namespace sextant {
namespace {

void CheckImages(const Tensor& images, const char* what) {
  if (images.rank() != 4) {
    throw InvalidArgument("{} must be 4-dimensional, got shape {}", what,
                          images.shape().ToString());
  }
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (int d = 1; d < 4; ++d) {
    if (images.dim(d) <= 0 || images.dim(d) > kMax) {
      throw InvalidArgument("{} must be of non-zero size that fits int32, got shape {}", what,
                            images.shape().ToString());
    }
  }
}

}  // namespace

ResizeGeometry GeometryOf(const Tensor& images, const Tensor& size) {
  CheckImages(images, "input");
  if (size.rank() != 1 || size.num_elements() != 2) {
    throw InvalidArgument("size must be a vector of 2 elements, got shape {}",
                          size.shape().ToString());
  }
  const auto* out = size.data<int32_t>();
  if (out[0] <= 0 || out[1] <= 0) {
    throw InvalidArgument("output dimensions must be positive, got {} by {}", out[0], out[1]);
  }
  return {images.dim(0), images.dim(1), images.dim(2), out[0], out[1], images.dim(3)};
}

ResizeGeometry GradGeometryOf(const Tensor& grads, const Tensor& original) {
  CheckImages(grads, "grads");
  CheckImages(original, "original_image");
  if (grads.dim(0) != original.dim(0) || grads.dim(3) != original.dim(3)) {
    throw InvalidArgument("grads of shape {} do not fit images of shape {}",
                          grads.shape().ToString(), original.shape().ToString());
  }
  return {original.dim(0), original.dim(1), original.dim(2),
          grads.dim(1),    grads.dim(2),    original.dim(3)};
}

}  // namespace sextant
