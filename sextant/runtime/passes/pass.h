// Graph passes of the Plan builder: each rewrites the Plan's private graph, can be switched off,
// and leaves the value of every tensor that has a consumer outside what it rewrites. Fetched
// tensors have one: the "_Sink" node of the graph. Passes run after placement, shape inference and
// constant folding; nodes they leave without consumers are removed.
#pragma once

#include <string_view>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Which optimisations run. All of them keep results; tests and benchmarks switch them off.
struct OptimizerOptions {
  bool fold_constants = true;
  bool merge_common = true;  // common subexpressions
  bool fuse_elementwise = true;
  bool static_memory = true;  // one arena planned by liveness
};

struct Pass {
  std::string_view name;
  bool OptimizerOptions::*enabled;
  void (*run)(Graph& graph);
};

// In the order they run. Layout propagation and further region fusions join this list as they are
// written.
const std::vector<Pass>& OptimizationPasses();

// Nodes with equal op, attributes and inputs, without effects, become one.
void MergeCommonSubexpressions(Graph& graph);
// Chains and trees of element-wise ops over equal shapes become one "_Elementwise" node each.
void FuseElementwise(Graph& graph);

}  // namespace sextant
