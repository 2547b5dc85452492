// Variables that loops and branches capture from another task.
#pragma once

#include "sextant/graph/graph.h"
#include "sextant/runtime/plan_builder.h"

namespace sextant {

// A loop or branch runs on one task as a whole. A variable of another task that its functions only
// read is read before it, and they are given a variable of their own with that value. REQUIRES: the
// nodes are placed. Throws UNIMPLEMENTED, naming both, where the variable is changed inside.
void ReadCapturedVariables(Graph& graph, const PlanEnvironment& environment);

}  // namespace sextant
