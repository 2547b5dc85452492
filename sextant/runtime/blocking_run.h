// Runs a Plan some of whose steps may wait for other steps of the same Run.
#pragma once

#include "sextant/runtime/plan.h"

namespace sextant {

class StepTrace;

// Runs every step of a Plan with an "order". While a step waits, those that do not depend on it
// run; when a step fails, those that wait are cancelled. Throws the first error, named.
void RunBlockingPlan(const Plan& plan, Frame& frame, const RunEnvironment& run, StepTrace* trace);

}  // namespace sextant
