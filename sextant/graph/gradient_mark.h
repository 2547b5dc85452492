// GradientMark: says that a gradient is to be the mean over the workers of synchronous training.
//
// A mark is an Identity node with attributes: in one process, and for TensorFlow, it is its input.
// Where the variable is on another task of a cluster, what follows the mark is an update that all
// workers make together (runtime/update_nodes.h).
#pragma once

#include <cstdint>
#include <optional>

#include "sextant/graph/graph.h"
#include "sextant/graph/output.h"

namespace sextant {

struct GradientMark {
  // How the gradients of R workers become one.
  enum class Kind {
    kDense,    // added up, divided by R
    kRows,     // of an IndexedSlices: one worker's values behind another's, divided by R
    kIndices,  // of an IndexedSlices: the numbers of these rows
  };
  Kind kind = Kind::kDense;
  int replicas_to_aggregate = 1;  // R
  int total_num_replicas = 1;
  bool deterministic = false;  // add in the order of ranks
};

// The gradient, marked, in the current scopes.
Output MarkGradient(Output gradient, const GradientMark& mark);
bool IsGradientMark(const Node& node);
// REQUIRES: IsGradientMark(node). Throws INVALID_ARGUMENT when it is malformed.
GradientMark GetGradientMark(const Node& node);
// Of the first mark in the graph.
std::optional<GradientMark> FindGradientMark(const Graph& graph);

}  // namespace sextant
