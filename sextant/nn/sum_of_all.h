// SumOfAll: the sum of all elements of a tensor of any rank, known or not.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

Output SumOfAll(Output x);

}  // namespace sextant
