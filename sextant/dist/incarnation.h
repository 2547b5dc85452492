// Incarnations: which process is at an address, which object speaks.
#pragma once

#include <cstdint>

namespace sextant::dist {

// A number drawn at random, never 0: tells servers and senders from all others, those of the same
// address before and after them too.
uint64_t NewIncarnation();

}  // namespace sextant::dist
