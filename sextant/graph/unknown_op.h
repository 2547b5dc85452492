// Nodes of imported graphs that cannot run: their op type is not registered, or the node itself is
// malformed. They can be exported and their outputs fed.
#pragma once

#include <string_view>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"

namespace sextant {

// The op type that the node was imported with. That of a malformed node is node.type() up to a
// space: what looks for nodes by type does not find it ("Neg (malformed)").
std::string_view ImportedType(const Node& node);

// Why: NOT_FOUND, "[Op name] op type 'Op' is not registered", or what was found wrong when the node
// was imported. REQUIRES: node.op().unknown().
Error UnknownOpError(const Node& node);

}  // namespace sextant
