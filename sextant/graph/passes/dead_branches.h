// Removes the branches of v1 conditionals that no run takes.
#pragma once

#include "sextant/graph/graph.h"
#include "sextant/graph/passes/deadness.h"

namespace sextant {

// In place, by a Deadness that has visited all nodes. A Switch of which one output is never live
// hands its data on instead, a Merge with one input that may be live hands that on. Nodes that are
// never live lose their consumers (RemoveUnneeded drops them), except where what is fetched, or a
// Merge of several other inputs, depends on them: these Switches stay.
void BypassDeadBranches(Graph& graph, Deadness& deadness);

}  // namespace sextant
