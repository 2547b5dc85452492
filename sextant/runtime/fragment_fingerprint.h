// What tells fragments apart.
#pragma once

#include <cstdint>

#include "sextant/device/remote_task.h"

namespace sextant {

// Of all that a task needs to run it.
uint64_t FingerprintOf(const Fragment& fragment);
// Of what the callers of a summed call must agree on. REQUIRES: fragment.sum.
uint64_t SumKeyOf(const Fragment& fragment);

}  // namespace sextant
