// The sum of all elements, whatever the rank, known or not.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

Output SumOfAll(Output x);

}  // namespace sextant
