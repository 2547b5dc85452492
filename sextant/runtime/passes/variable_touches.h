// Which nodes of a Plan's graph read or change which variables, and when: the order of a Plan is
// known (TopologicalOrder), so a pass can tell what lies between two nodes.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Whether a node that takes the handle of a variable leaves it as it is.
bool OnlyReadsVariable(const Node& node);

class VariableTouches {
 public:
  static constexpr int kUnknown = -1;

  // "order" is the graph's; later changes of the graph are not seen.
  explicit VariableTouches(const std::vector<Node*>& order);

  // The number of the variable behind a handle, or kUnknown.
  int VariableOf(Output handle) const;
  // The variables that the node reads or changes.
  const std::vector<int>& TouchedBy(const Node& node) const { return touched_[node.id()]; }
  // Whether it may touch any variable: it takes a handle of unknown origin or calls a function.
  bool MayTouchAll(const Node& node) const { return touches_all_[node.id()]; }
  // Whether a node strictly between the two places in the order may change the variable.
  bool ChangedBetween(int variable, size_t from, size_t to) const;

 private:
  std::unordered_map<std::string, int> numbers_;  // by the name that variables are shared by
  std::vector<std::vector<int>> touched_;         // by node id
  std::vector<bool> touches_all_;
  std::vector<std::vector<size_t>> changes_;  // by variable: places in the order, ascending
  std::vector<size_t> changes_of_all_;
};

}  // namespace sextant
