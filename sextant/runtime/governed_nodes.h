// The nodes of a Plan's graph that run only when a Switch lets them.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Optimisation passes merge, fuse and replace nodes by their ops. Across the border of a branch
// that may be dead this would kill nodes or revive them, so while passes run the nodes on branches
// are hidden: each has an op that no pass knows, with the same inputs and outputs.
class GovernedNodes {
 public:
  explicit GovernedNodes(Graph& graph) : graph_(graph) {}

  // Every Switch and Merge, and what is not live in all runs (Deadness).
  void Hide();
  // Those that are still there become what they were, with the inputs that they now have.
  void Restore();

  // Whether the node is hidden: it may do anything.
  static bool IsHidden(const Node& node);

 private:
  struct Original {
    const OpDef* op;
    AttrMap attrs;
    std::vector<PartialShape> shapes;
    std::vector<std::optional<HandleShape>> handles;
  };
  void Hide(Node* node);
  // Shapes and handles, which Replace infers without what the analysis knew.
  static void SetOutputs(Node* node, const Original& original);

  Graph& graph_;
  std::unordered_map<const Node*, Original> originals_;
};

}  // namespace sextant
