// How much physical memory this process holds.
#pragma once

#include <cstdint>

namespace sextant {

int64_t ResidentBytes();

}  // namespace sextant
