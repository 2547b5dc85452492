// UpdateMark: says of a node that reads or changes a variable that it is part of a training step,
// added to the graph by an optimizer or a moving average of the library.
//
// It is an attribute, which TensorFlow passes over. Within a step, changes of variables of
// different servers need not wait for one another (runtime/relaxed_controls.h); without a mark
// every control edge is kept.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

enum class UpdateMark {
  kNone,
  kUpdate,
  kCount,  // counts the step, behind all updates
};

UpdateMark GetUpdateMark(const Node& node);
// REQUIRES: mark != kNone
void SetUpdateMark(Graph& graph, Node* node, UpdateMark mark);
// Marks what takes handles and has no mark yet, of the nodes that were added since the graph had
// "first" nodes, as updates.
void MarkUpdatesSince(Graph& graph, int first);

}  // namespace sextant
