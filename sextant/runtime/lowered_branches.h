// If, Case and While nodes that TensorFlow lowers: where a node of the fetched graph itself has the
// attribute _lower_using_switch_merge, its functions become part of that graph. Then only what
// something needs runs. In functions that are called, all effects run.
//
//   needed of an If or Case          runs of the branch taken
//   some outputs are read            those outputs
//   a node has it as control input   the control results (FunctionDef.control_ret)
//   it is itself a fetch or target   all outputs and the control results
//
// The control results of a While always run.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

bool IsLowered(const Node& node);
// Of the body's effects, those that are control results of the function.
std::vector<Operation> ControlResults(const Function& function, const FunctionBody& body);

// Where a Switch of TensorFlow decides, as in a loop of v1 or a lowered If, the predicate must be a
// scalar bool; elsewhere it may be any tensor. "lowered": the node's graph is part of the fetched
// graph.
bool NeedsScalarPredicate(const Node& node, bool lowered);

// What a graph needs of a lowered If or Case.
struct LoweredUse {
  std::vector<int32_t> outputs;  // ascending
  bool control_results = false;
};
LoweredUse FindUse(const Node& node);

// Notes in the lowered nodes of the graph whether "sink", which reads the fetches and waits for the
// targets, does so directly. Nodes that have been marked keep their marks: in a part of a graph
// that another task runs, outputs are fetched that the whole graph only reads.
void MarkFetched(Graph& graph, const Node& sink);

}  // namespace sextant
