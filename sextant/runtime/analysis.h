// What can be known of a Plan's graph before it runs: the shape of every tensor, the value of those
// that depend on constants only, and which branches of v1 conditionals are never taken.
//
// An abstract interpretation in one sweep, inputs before users. The three help each other:
//
//   Const 2 ─→ Less ─→ Switch(x)          the value of Less makes one side of the Switch dead,
//                        └→ … Merge ─→ y  so Merge has one live input, and y its shape and value
//
// A body of If, Case or While is planned when its node is met, because the shapes of its results
// come out of it. For a While the shapes of the variables are iterated to a fixed point: a size
// that changes from one iteration to the next becomes unknown.
//
// Invariant: "values" holds only tensors that are live in every run, and "constants" only nodes
// that need not be waited for. What has an effect is never computed ahead.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sextant/graph/passes/deadness.h"
#include "sextant/runtime/plan_builder.h"

namespace sextant {

struct Analysis {
  std::unordered_map<Output, Tensor> values;  // of tensors that are live in every run
  // Nodes that are computed from Const nodes alone: nothing is lost by not waiting for them.
  std::unordered_set<const Node*> constants;
  // Of nodes with values that wait for others than those: what a constant in their place waits for.
  std::unordered_map<const Node*, std::vector<Node*>> waits;
  Deadness deadness;
  // If: else, then. Case: branches. While: cond, body.
  std::unordered_map<const Node*, std::vector<std::shared_ptr<const Plan>>> branches;
  // Of If and Case: the outputs that the branches compute; all, or of lowered ones those that are
  // needed (lowered_branches.h).
  std::unordered_map<const Node*, std::vector<int32_t>> branch_outputs;
};

// "feeds" are the nodes that stand for request.feeds. Walks the graph in topological order, sets
// the shapes of its nodes and, with fold_constants, computes what can be. A shape function's
// complaint is no error here: the kernel will say it, if the node is ever reached.
Analysis AnalyzeGraph(Graph& graph, const PlanRequest& request, const std::vector<Output>& feeds,
                      const PlanEnvironment& environment);

}  // namespace sextant
