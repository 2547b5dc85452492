// How a worker of a session target waits for the chief, which initialises the variables.
#pragma once

#include <chrono>
#include <vector>

#include "sextant/graph/output.h"

namespace sextant {
class Session;
}

namespace sextant::train {

// Returns when all of "initialized" (of VarIsInitializedOp) are true. Throws DEADLINE_EXCEEDED,
// naming the variables, when that takes longer, and CANCELLED with the CancellationScope.
void WaitForChief(Session& session, const std::vector<Output>& initialized,
                  std::chrono::seconds longest);

}  // namespace sextant::train
