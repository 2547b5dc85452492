// Assigns places in one arena to values by their lifetimes.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant {

// A value that is alive from step "first" through step "last".
struct Lifetime {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
  int64_t offset = 0;  // set by PlanArena, a multiple of 64
};

// Gives every value an offset such that values alive at the same step do not overlap. Walks the
// steps once, taking the smallest free block that fits. Returns the size of the arena. REQUIRES:
// sorted by "first".
int64_t PlanArena(std::vector<Lifetime>& values);

}  // namespace sextant
