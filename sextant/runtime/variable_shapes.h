// Shapes of variables that nodes of other tasks ask for.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// What reads the Shape, ShapeN, Size or Rank of a variable whose shape is known reads a constant
// instead. Else the task of the variable would send it, and passes that need the value, as those
// for gradients of convolutions do, would find none. Returns the tensors whose shapes were asked
// for. Nodes that wait for others are left as they are.
std::vector<Output> UseVariableShapes(Graph& graph);

}  // namespace sextant
