#include "sextant/runtime/varying_inputs.h"

#include <algorithm>
#include <vector>

namespace sextant {
namespace {

class Spending {
 public:
  Spending(const Graph& graph, std::span<const Output> results)
      : readers_(static_cast<size_t>(graph.num_nodes())), results_(results.begin(), results.end()) {
    for (int id = 0; id < graph.num_nodes(); ++id) {
      const Node* node = graph.node(id);
      for (const Output& input : node->inputs()) readers_[Id(input.node())].push_back(node);
    }
  }

  bool EndsAtVariables(const Output& input) const {
    std::vector<bool> seen(readers_.size());
    std::vector<const Node*> stack = {input.node()};
    seen[Id(input.node())] = true;
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (int i = 0; i < node->num_outputs(); ++i) {
        if (results_.contains(node->output(i))) return false;
      }
      for (const Node* reader : readers_[Id(node)]) {
        if (seen[Id(reader)] || TakesHandle(*reader)) continue;
        if (reader->op().structural() || ReadsVariable(*reader)) return false;
        seen[Id(reader)] = true;
        stack.push_back(reader);
      }
    }
    return true;
  }

 private:
  static size_t Id(const Node* node) { return static_cast<size_t>(node->id()); }
  static bool TakesHandle(const Node& node) {
    return std::ranges::any_of(
        node.inputs(), [](const Output& input) { return input.dtype() == DType::kResource; });
  }
  static bool ReadsVariable(const Node& node) {
    return std::ranges::any_of(node.inputs(),
                               [](const Output& input) { return TakesHandle(*input.node()); });
  }

  std::vector<std::vector<const Node*>> readers_;  // by node id
  const std::unordered_set<Output> results_;
};

}  // namespace

std::unordered_set<Output> VaryingInputs(const Graph& graph, std::span<const Output> inputs,
                                         std::span<const Output> results) {
  const Spending spending(graph, results);
  std::unordered_set<Output> varying;
  for (const Output& input : inputs) {
    if (!input.shape().fully_known() && spending.EndsAtVariables(input)) varying.insert(input);
  }
  return varying;
}

}  // namespace sextant
