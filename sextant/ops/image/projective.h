// ImageProjectiveTransform: images under a projective transform.
#pragma once

#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ProjectiveTransformOptions {
  std::string interpolation = "NEAREST";  // or "BILINEAR"
  // What lies outside: "CONSTANT" fill_value, "REFLECT" (d c b a | a b c d | d c b a), "WRAP" (a b
  // c d | a b c d) or "NEAREST" the pixel at the edge.
  std::string fill_mode = "CONSTANT";
  float fill_value = 0;
};
// Output pixel (x, y) is the input at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) with
// k = c0 x + c1 y + 1, for transforms [n or 1, 8] of rows (a0, a1, a2, b0, b1, b2, c0, c1)
// (op ImageProjectiveTransformV3).
Output ImageProjectiveTransform(Output images, Output transforms, const IndexArg& output_shape,
                                const ProjectiveTransformOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
