// What may run while a step of a Plan waits for another step, as a dequeue for an enqueue.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/runtime/plan.h"

namespace sextant {

// Sets Plan::may_block and, where steps are independent of one that may block, Plan::order.
// REQUIRES: the steps are made; their StepIo need not be.
void FindBlockingOrder(Plan& plan);

// Per step, a class: steps of one class run in the order of the Plan whatever waits. All the same
// where a Plan has no "order".
std::vector<uint64_t> OrderClasses(const Plan& plan);

}  // namespace sextant
