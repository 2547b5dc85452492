// BitwiseAnd, BitwiseOr, BitwiseXor, Invert, PopulationCount, LeftShift, RightShift: operations on
// the bits of integers, element by element; those of two tensors broadcast.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

Output BitwiseAnd(Output x, Output y);
Output BitwiseOr(Output x, Output y);
Output BitwiseXor(Output x, Output y);
Output Invert(Output x);           // every bit flipped
Output PopulationCount(Output x);  // number of bits that are set, as uint8
// Shifts by y bits; y is brought into [0, bits of the type - 1]. RightShift keeps the sign.
Output LeftShift(Output x, Output y);
Output RightShift(Output x, Output y);

}  // namespace sextant

#pragma GCC visibility pop
