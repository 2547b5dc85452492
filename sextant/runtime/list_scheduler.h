// Schedule: the steps of a Plan given to several workers. A worker runs its steps in order, each
// when what it depends on has ended at the other workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/runtime/plan.h"

namespace sextant {

struct Schedule {
  static constexpr int kMaxWorkers = 4;
  struct Wait {
    int32_t worker = 0;
    int32_t count = 0;  // of steps of that worker, from its first
  };
  struct WorkerStep {
    int32_t step = 0;  // its index in the Plan
    std::vector<Wait> after;
    std::vector<int32_t> release;  // slots that hold nothing needed after this step
    std::vector<int32_t> shared;   // slots that other steps read too: the last to end empties them
  };
  std::vector<std::vector<WorkerStep>> workers;
  std::vector<SlotReaders> shared;
};

// List scheduling: "cost" has the nanoseconds of each step; the step with the longest critical path
// to the end comes first, and goes to the worker where it can begin earliest.
Schedule ScheduleSteps(const Plan& plan, int workers, std::span<const double> cost);

}  // namespace sextant
