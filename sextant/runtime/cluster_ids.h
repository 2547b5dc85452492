// Numbers of Runs and sessions.
#pragma once

#include <cstdint>

namespace sextant {

// Never 0, and unlike those of all other processes: counted from a random number of 64 bits.
uint64_t NewClusterId();

}  // namespace sextant
