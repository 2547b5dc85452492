// ClipByValue: limiting values to a range.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// max(min(t, clip_value_max), clip_value_min); bounds are scalars or broadcast to the shape of t.
// Where they must be broadcast it is Minimum and Maximum, because the op does not, as in
// TensorFlow.
Output ClipByValue(Output t, Output clip_value_min, Output clip_value_max);

}  // namespace sextant

#pragma GCC visibility pop
