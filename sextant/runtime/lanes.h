// Lanes: the steps of a Plan dealt out to several threads. The steps of a lane run in the lane's
// order, each when what it depends on has ended in the other lanes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/runtime/plan.h"

namespace sextant {

struct Lanes {
  static constexpr int kMost = 4;
  struct Wait {
    int32_t lane = 0;
    int32_t count = 0;  // of steps of that lane, from its first
  };
  struct LaneStep {
    int32_t step = 0;  // its index in the Plan
    std::vector<Wait> after;
    std::vector<int32_t> release;  // slots that hold nothing needed after this step
    std::vector<int32_t> shared;   // slots that other steps read too: the last to end empties them
  };
  std::vector<std::vector<LaneStep>> lanes;
  struct Readers {
    int32_t slot = 0;
    int32_t count = 0;
  };
  std::vector<Readers> shared;  // slots, and how many steps read them
};

// Deals the steps to "lanes" lanes. "cost" has the nanoseconds of each step. The step with the
// longest way to the end comes first, and goes where it can begin earliest.
Lanes DealSteps(const Plan& plan, int lanes, std::span<const double> cost);

}  // namespace sextant
