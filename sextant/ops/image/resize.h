// ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic, ResizeArea, ScaleAndTranslate: images
// [batch, height, width, channels] in another size.
#pragma once

#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ResizeOptions {
  bool align_corners = false;       // the centres of the corner pixels of input and output coincide
  bool half_pixel_centers = false;  // pixel i is the interval [i, i + 1), not the point i
};

// "size" is [height, width]. Between the nearest four pixels linearly; the result is float.
Output ResizeBilinear(Output images, const IndexArg& size, const ResizeOptions& options = {});
// The nearest pixel, in the type of the images.
Output ResizeNearestNeighbor(Output images, const IndexArg& size,
                             const ResizeOptions& options = {});
// Cubic splines through sixteen pixels; the result is float.
Output ResizeBicubic(Output images, const IndexArg& size, const ResizeOptions& options = {});

struct SEXTANT_API ResizeAreaOptions {
  bool align_corners = false;
};
// The mean of the area that an output pixel covers; the result is float.
Output ResizeArea(Output images, const IndexArg& size, const ResizeAreaOptions& options = {});

struct SEXTANT_API ScaleAndTranslateOptions {
  // "lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic",
  // "mitchellcubic"
  std::string kernel_type = "lanczos3";
  bool antialias = true;  // when shrinking, the kernel widens
};
// out[y, x] samples the images at ((y, x) - translation) / scale with a kernel; places outside the
// image are 0. scale and translation are float vectors of two.
Output ScaleAndTranslate(Output images, const IndexArg& size, Output scale, Output translation,
                         const ScaleAndTranslateOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
