// What a graph needs of its lowered nodes (lowered_branches.h): found by walking back from what is
// fetched, through their functions too.
//
//   i, s = While(i0, s0)     i is fetched. If cond and control results read i alone and the next i
//                            needs i alone, neither s nor s0 is computed.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Notes in every lowered If, Case and While of the graph what of it "needed" depends on (NoteUse);
// inputs that this does not depend on become constants, and what only they needed is removed.
// Nodes that have been noted before do not get control results again because of nodes that wait: in
// a part of a graph that another task runs, more may wait than in the whole graph.
void NoteUses(Graph& graph, const std::vector<Node*>& needed);

}  // namespace sextant
