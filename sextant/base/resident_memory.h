// How much physical memory this process holds.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"

namespace sextant {

SEXTANT_API int64_t ResidentBytes();

}  // namespace sextant
