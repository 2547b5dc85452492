// Gradients of nodes that run functions. Values that the backward pass needs are kept, not computed
// anew: the forward node is rewritten in place to give them as further outputs; its name, id and
// first outputs stay.
#pragma once

#include "sextant/graph/gradients.h"

namespace sextant {

// If, StatelessIf, Case, StatelessCase, PartitionedCall, StatefulPartitionedCall, and nodes whose
// op is a function of the library.
void BranchGradient(GradientContext& context);

// While and StatelessWhile. The forward loop counts its iterations and pushes what is needed on
// lists, which a second loop takes off again.
void LoopGradient(GradientContext& context);

// Turns each SymbolicGradient node into a PartitionedCall of a function that computes the gradient.
void ExpandSymbolicGradients(Graph& graph);

}  // namespace sextant
