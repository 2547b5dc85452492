// Inputs of a fragment whose sizes differ from call to call: numbers and gradients of the rows that
// a batch touches. A Plan for each size would be made anew in nearly every call.
#pragma once

#include <span>
#include <unordered_set>

#include "sextant/graph/graph.h"

namespace sextant {

// The inputs whose shapes the graph leaves open and that are only spent on variables: whatever is
// made of them ends at nodes that take a variable's handle, joins no variable's value on the way
// and is no result. So no product or image depends on them, which Plans for known shapes make
// faster and may round otherwise. It depends on the graph alone, so a task that was restarted plans
// as the one before it.
std::unordered_set<Output> VaryingInputs(const Graph& graph, std::span<const Output> inputs,
                                         std::span<const Output> results);

}  // namespace sextant
