// Runs a Plan.
#pragma once

#include <span>
#include <vector>

#include "sextant/runtime/plan.h"

namespace sextant {

class StepTrace;

// Runs every step of "plan" in "frame". "feeds" are in the Plan's order and are moved from;
// "fetches" receives the results. Throws the first error of a step with "[Op name] " in front,
// DEADLINE_EXCEEDED or CANCELLED when the run's token says so; the frame is clean again in any
// case.
void RunPlan(const Plan& plan, Frame& frame, const RunEnvironment& run, std::span<Tensor> feeds,
             std::span<Tensor> fetches, StepTrace* trace = nullptr);

}  // namespace sextant
