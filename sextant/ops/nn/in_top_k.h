// InTopK: whether classes are among those with the k highest predictions.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// result[b] = fewer than k classes have a prediction above predictions[b, targets[b]]. False where
// the target is not a class or a prediction of the row is not finite (op InTopKV2).
Output InTopK(Output predictions, Output targets, Output k);

}  // namespace sextant

#pragma GCC visibility pop
