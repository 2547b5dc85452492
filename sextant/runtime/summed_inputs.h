// The inputs of a part of a synchronous update: one gradient per contribution, added up.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// A placeholder for a tensor from outside in the graph of a fragment.
Output AddStandIn(Graph& graph, const std::string& name, Output tensor);

struct SummedInputs {
  int32_t replicas = 1;                  // contributions
  std::unordered_set<Output> gradients;  // inputs that have a stand-in for each
};

// Puts sums over contributions in the place of the marks (graph/gradient_mark.h) among the nodes of
// a part; "inputs" are its tensors from outside and their stand-ins, which become those of the
// first contribution. An input that is marked once is a gradient, wherever else it is read. Throws
// INVALID_ARGUMENT, naming both, when marks do not agree on the number.
SummedInputs SumContributions(Graph& graph, const std::vector<Node*>& nodes,
                              const std::unordered_map<Output, Output>& inputs);

}  // namespace sextant
