// The update rules of the benchmark models, as TensorFlow's optimizers build them.
#pragma once

#include <vector>

#include "sextant/ops/state/variable.h"

namespace sextant::bench {

// One operation that moves the variables against the gradient of the loss. Slots are made beside
// the variables ("w/Momentum", "w/Adam", "w/Adam_1"). Rows of a sparse gradient that occur several
// times are added up first.
Operation MinimizeByMomentum(Output loss, const std::vector<Variable>& variables, float rate,
                             float momentum);
Operation MinimizeByAdam(Output loss, const std::vector<Variable>& variables, float rate);

}  // namespace sextant::bench
