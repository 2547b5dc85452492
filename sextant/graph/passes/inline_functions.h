// Replaces calls of functions by the functions' bodies.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

// In place: PartitionedCall, StatefulPartitionedCall, SymbolicGradient and nodes whose op is a
// function of the library, calls inside the bodies too. Branches of If, Case and While stay
// functions.
//
// The nodes of a body are named "call/node" and take the call's device where they have none. The
// call itself becomes a NoOp that waits for the body's effects and results, so nodes that wait for
// the call still do; the body in turn waits for what the call waited for. Where a body has
// effects its results wait for them, so that using any result runs them all; effects on a branch of
// a v1 conditional that is not taken leave the results alone. Frames of v1 loops get names per
// call.
//
// Throws INVALID_ARGUMENT when a function calls itself, RESOURCE_EXHAUSTED when the calls add up to
// more than 300,000 nodes.
void InlineFunctions(Graph& graph);

}  // namespace sextant
