// Helpers of the rewriting passes: ops by name, fresh node names.
#pragma once

#include <string>
#include <string_view>

#include "sextant/graph/graph.h"

namespace sextant {

// The op. Throws INTERNAL when the library was built without it.
const OpDef* RequireOp(const Graph& graph, std::string_view name);

// "name", or with a number behind it a name that no node has.
std::string FreshName(Graph& graph, const std::string& name);

// A Const that waits for nothing: who reads it need not come after anything.
bool IsFreeConstant(const Node& node);

// Throws UNIMPLEMENTED when nobody registered the node's op: it can be kept, not rewritten or run.
void RequireKnown(const Node& node);

}  // namespace sextant
