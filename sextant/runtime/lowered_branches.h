// If, Case and While nodes that TensorFlow lowers: where a node of the fetched graph itself has the
// attribute _lower_using_switch_merge, its functions become part of that graph. Then only what
// something needs runs. In functions that are called, all effects run.
//
//   needed of an If or Case          runs of the branch taken
//   some outputs are read            those outputs
//   a node has it as control input   the control results (FunctionDef.control_ret)
//   it is itself a fetch or target   all outputs and the control results
//
// Of a While run its condition, the control results of cond and body, and the variables that these
// and the outputs that are read need; all of them if a node waits for it or it is itself a fetch or
// target. Inputs that nothing of this needs are not computed (lowered_needs.h).
#pragma once

#include <cstdint>
#include <optional>
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

// What a graph needs of a lowered node.
struct LoweredUse {
  std::vector<int32_t> outputs;  // ascending; of a While also what its iterations need
  bool control_results = false;
};
void NoteUse(Graph& graph, Node* node, const LoweredUse& use);
// As noted, if it was.
std::optional<LoweredUse> NotedUse(const Node& node);
// As noted for a lowered node; else all. "lowered": as above.
LoweredUse UseOf(const Node& node, bool lowered);

// Of the results of a lowered While's body, those that are not needed become the arguments of the
// same place.
void PassUnneededOn(const Node& loop, const FunctionBody& body, std::vector<Output>& results);

// Notes in the lowered nodes of the graph whether "sink", which reads the fetches and waits for the
// targets, does so directly. Nodes that have been marked keep their marks: in a part of a graph
// that another task runs, outputs are fetched that the whole graph only reads.
void MarkFetched(Graph& graph, const Node& sink);
bool IsFetchedItself(const Node& node);

}  // namespace sextant
