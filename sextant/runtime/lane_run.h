// Runs a Plan in lanes.
#pragma once

#include "sextant/runtime/plan.h"

namespace sextant {

// Runs every step on the run's team, as "lanes" deals them; a thread that does not come is replaced
// by those that do. Throws the error of the lowest step that failed; steps after it may have run.
void RunInLanes(const Plan& plan, Frame& frame, const Lanes& lanes, const RunState& run);

}  // namespace sextant
