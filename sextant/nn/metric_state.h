// What metrics share: local variables, quotients, weights.
#pragma once

#include <string_view>

#include "sextant/nn/metrics.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/state/variable.h"

namespace sextant::metrics {

// A local variable of zeros in the current name scope.
Variable State(std::string_view name, const Shape& shape = {}, DType dtype = DType::kFloat);
// a / b, 0 where b is 0.
Output Quotient(Output a, Output b);
// The weights as floats of the shape of values; none when there are none.
Output BroadcastWeights(Output weights, Output values);
// total / count of values, with weights.
Metric Average(Output values, Output weights);

}  // namespace sextant::metrics
