// Runs a Plan by a schedule.
#pragma once

#include "sextant/runtime/plan.h"

namespace sextant {

// Runs every step on the threads of the run's team, one for each worker of the schedule; the steps
// of a worker whose thread does not come are run by the others. Throws the error of the lowest step
// that failed; steps after it may have run.
void RunSchedule(const Plan& plan, Frame& frame, const Schedule& schedule,
                 const RunEnvironment& run);

}  // namespace sextant
