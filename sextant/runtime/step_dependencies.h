// What the steps of a Plan wait for when they do not run one after another.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/runtime/plan.h"

namespace sextant {

// Per step, the earlier steps that must have ended before it begins, ascending: the makers of what
// it reads, those that control edges name, and those that use the same variable or table when one
// of the two changes it. A step that changes a variable also waits for the earlier users of the
// value that was read of it, so that it can change the buffer in place. Steps with other effects
// keep their order; those that may touch anything (functions, queues, sends) keep it towards all.
// Whatever heeds this gives the results of running the steps in their order.
std::vector<std::vector<int32_t>> StepDependencies(const Plan& plan);

// Only what the graph itself orders: the makers of what a step reads, and those that control edges
// name, through nodes without a step too.
std::vector<std::vector<int32_t>> EdgeDependencies(const Plan& plan);

}  // namespace sextant
