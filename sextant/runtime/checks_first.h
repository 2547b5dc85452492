// Checks before input: an op whose purpose is to fail (Assert, CheckNumerics) runs before those
// that may wait for a pipe (IteratorGetNext, ReadFile), where neither it nor what it is computed
// from depends on them or changes a variable. So a Run that must fail does not wait first for input
// that may never come, and no thread is needed to run steps meanwhile (blocking_run.h). The same
// holds for what puts into queues, which others may wait for.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

// Whether the node reads a file or an iterator, and so may wait for a pipe.
bool MayAwaitInput(const Node& node);
// Whether it is a check or puts into a queue.
bool WantsToPrecedeInput(const Node& node);
// Whether it may run before input for the sake of a node that wants to: it leaves no effect.
bool MayPrecedeInput(const Node& node);

// Puts these nodes, and what they need, in front; every node that may wait for input depends on the
// checks among them. Nothing changes where a Switch is left: a dead check would make the input
// dead.
void PutChecksFirst(Graph& graph);

}  // namespace sextant
