// Reads of reference variables whose readers are ordered after a change.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

// In place. An Identity of a reference variable ("v/read") shares the variable's buffer, which
// Assign, AssignAdd, Scatter…, Apply… write in place: its readers see the variable as it is when
// they run. Readers that run after such a change, and not only before it, get an Identity of the
// reference of their own that runs when they do; so do readers of what a v1 conditional hands on,
// and readers in a v1 loop that changes the variable. The variables of a loop are tensors of their
// own, unlike in TensorFlow. All others keep the tensor they have: where nothing orders a reader
// and a change, either value is right. Must run before ResolveReferences takes the references away.
void AddFreshReads(Graph& graph);

}  // namespace sextant
