// Ports that the system gives, for clusters whose tasks must know each other before they listen.
#pragma once

#include <vector>

namespace sextant {

// Of the loopback interface; different, and free when they are returned.
std::vector<int> FreePorts(int count);

}  // namespace sextant
