// If and While nodes that TensorFlow lowers: where a node of the fetched graph itself has the
// attribute _lower_using_switch_merge, its functions become part of that graph. Then only what
// something needs runs: results that are read, and the effects that a function lists as its control
// results (FunctionDef.control_ret). In functions that are called, all effects run; those
// are also the branches of Case, which TensorFlow lowers to calls.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

bool IsLowered(const Node& node);
// Of the body's effects, those that are control results of the function.
std::vector<Operation> ControlResults(const Function& function, const FunctionBody& body);
// The outputs of the node that some node of its graph reads, ascending.
std::vector<int32_t> ReadOutputs(const Node& node);

}  // namespace sextant
