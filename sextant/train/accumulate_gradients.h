// Gradient accumulation: larger batches than fit in memory, as several steps.
//
//   auto optimizer = train::AccumulateGradients(train::Adam({.learning_rate = 1e-3}), 4);
//
// Gradients of n steps are added up; then their mean updates the variables, once, and the
// global step grows by one: it counts updates, so that schedules and limits mean the same as with a
// large batch. Rows of tables that none of the steps touched stay as they are. The sums,
// "<variable>/GradientAccumulator", and the count of steps are part of checkpoints. Sums and slots
// are on the task of their variable, and so is its update.
#pragma once

#include <cstdint>

#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// Throws INVALID_ARGUMENT for less than 1 step.
Optimizer AccumulateGradients(const Optimizer& optimizer, int64_t steps);

}  // namespace sextant::train

#pragma GCC visibility pop
