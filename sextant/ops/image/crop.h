// CropAndResize: boxes cropped from images and resized.
#pragma once

#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API CropAndResizeOptions {
  std::string method = "bilinear";  // or "nearest"
  float extrapolation_value = 0;    // of places outside the image
};
// crops[k] is box boxes[k] = [y1, x1, y2, x2] of image[box_ind[k]], resized to crop_size = [height,
// width], as float. Coordinates 0 and 1 are the first and the last row or column; y1 > y2 turns the
// box upside down.
Output CropAndResize(Output image, Output boxes, Output box_ind, const IndexArg& crop_size,
                     const CropAndResizeOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
