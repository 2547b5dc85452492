// The global step: the variable that counts the updates of a model, "global_step" in checkpoints.
#pragma once

#include "sextant/ops/state/variable.h"

#pragma GCC visibility push(default)

namespace sextant::train {

inline constexpr const char* kGlobalStep = "global_step";

// The one of the current graph, made if there is none.
Variable GetOrCreateGlobalStep();
// None when there is none.
Variable GetGlobalStep(const Graph& graph);

}  // namespace sextant::train

#pragma GCC visibility pop
