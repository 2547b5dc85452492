// Which graphs keep state from run to run that sessions do not share.
#pragma once

#include "sextant/proto/graph.pb.h"

namespace sextant {

// Whether a node, of a function too, is a random stream or makes a resource without a shared name:
// an iterator, a table, a queue. Variables are shared by their names.
bool KeepsSessionState(const proto::GraphDef& graph);

}  // namespace sextant
