// Resources that a session has in its own task.
#pragma once

#include "sextant/graph/graph.h"
#include "sextant/runtime/session.h"

namespace sextant::train {

// For a resource that session.resources() does not have: throws FAILED_PRECONDITION, saying what to
// do, when "maker", the node of its handle, asks for another task.
void ThrowIfOfAnotherTask(const Session& session, const Node& maker);

}  // namespace sextant::train
