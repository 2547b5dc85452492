// Turns the loops of TensorFlow 1 into While nodes.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

// In place. A v1 loop is a frame: Enter takes values in, Merge joins each loop variable's start
// with what NextIteration gives, Switch by the condition (LoopCond, where there is one) sends it to
// the body or to Exit. A frame of a single iteration dissolves (single_iteration.h), each other
// frame becomes one While (or StatelessWhile), inner frames first:
//   - its variables are the loop's own and, behind them, what the frame reads of outside (constant
//     Enters), which every iteration passes on;
//   - an Exit becomes an Identity of the While's output and keeps its name;
//   - nodes with effects become effects of cond or body, also when nobody waits for them; others
//     that neither of them needs disappear;
//   - control edges from outside into the frame go to the While.
// Switch and Merge that make a conditional stay as they are. Tensors inside a frame are gone
// afterwards. REQUIRES: no references (ResolveReferences first).
// Throws INVALID_ARGUMENT, naming a node, on a frame that is not such a loop or when something
// outside uses a tensor of inside other than through Exit.
void StructureLoops(Graph& graph);

}  // namespace sextant
