// Checks before input: an op whose purpose is to fail (Assert, CheckNumerics) runs before those
// that may wait for a pipe (IteratorGetNext, ReadFile), where it depends on constants and feeds
// alone. So a Run that must fail does not wait first for input that may never come, and no thread
// is needed to run steps meanwhile (blocking_run.h).
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

// Whether the node reads a file or an iterator, and so may wait for a pipe.
bool MayAwaitInput(const Node& node);

// Lets every node that may wait for input depend on those checks of the graph. Nothing changes
// where a Switch is left: a dead check would make the input dead.
void PutChecksFirst(Graph& graph);

}  // namespace sextant
