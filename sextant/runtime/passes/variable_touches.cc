#include "sextant/runtime/passes/variable_touches.h"

#include <algorithm>

#include "sextant/graph/function_node.h"

namespace sextant {
namespace {

const std::string& SharedName(const Node& handle) {
  const auto& shared = handle.attr<std::string>("shared_name");
  return shared.empty() ? handle.name() : shared;
}

bool AnyBetween(const std::vector<size_t>& places, size_t from, size_t to) {
  const auto next = std::upper_bound(places.begin(), places.end(), from);
  return next != places.end() && *next < to;
}

}  // namespace

bool OnlyReadsVariable(const Node& node) {
  const std::string& type = node.type();
  return type == "ReadVariableOp" || type == "VariableShape" || type == "VarIsInitializedOp" ||
         type == "ResourceGather" || type == "ResourceGatherNd";
}

VariableTouches::VariableTouches(const std::vector<Node*>& order)
    : touched_(order.size()), touches_all_(order.size()) {
  for (const Node* node : order) {
    if (node->type() == "VarHandleOp") {
      numbers_.emplace(SharedName(*node), static_cast<int>(numbers_.size()));
    }
  }
  changes_.resize(numbers_.size());
  for (size_t place = 0; place < order.size(); ++place) {
    const Node& node = *order[place];
    if (node.type() == "Identity" || node.type() == "VarHandleOp") continue;
    bool all = node.op().stateful() && RunsFunctions(node);
    for (const Output& input : node.inputs()) {
      if (input.dtype() != DType::kResource) continue;
      const int variable = VariableOf(input);
      if (variable == kUnknown) {
        all = true;
      } else {
        touched_[node.id()].push_back(variable);
        if (!OnlyReadsVariable(node)) changes_[variable].push_back(place);
      }
    }
    touches_all_[node.id()] = all;
    if (all) changes_of_all_.push_back(place);
  }
}

int VariableTouches::VariableOf(Output handle) const {
  const Node* node = handle.node();
  while (node->type() == "Identity") node = node->input(0).node();
  if (node->type() != "VarHandleOp") return kUnknown;
  const auto found = numbers_.find(SharedName(*node));
  return found == numbers_.end() ? kUnknown : found->second;
}

bool VariableTouches::ChangedBetween(int variable, size_t from, size_t to) const {
  if (from > to) std::swap(from, to);
  return AnyBetween(changes_[variable], from, to) || AnyBetween(changes_of_all_, from, to);
}

}  // namespace sextant
