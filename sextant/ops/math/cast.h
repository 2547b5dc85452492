// Cast, Bitcast: changing the element type.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API CastOptions {
  bool truncate = false;  // cut the mantissa instead of rounding it
};
// x with elements of another type; x itself when it has that type already. Real numbers lose their
// fraction on the way to integers; what does not fit gives the value that x86 processors give.
Output Cast(Output x, DType dtype, const CastOptions& options = {});
// The same bytes read as another type: a larger type takes up the last dimension, a smaller one
// adds one.
Output Bitcast(Output x, DType dtype);

}  // namespace sextant

#pragma GCC visibility pop
