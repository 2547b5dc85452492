// BitwiseAnd, BitwiseOr, BitwiseXor, Invert, PopulationCount, LeftShift, RightShift: operations on
// the bits of integers, element by element; those of two tensors broadcast.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/math/scalar_operand.h"

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

// The same with a number for one of the two.
inline Output BitwiseAnd(Output x, ScalarOperand y) { return BitwiseAnd(x, ScalarLike(y, x)); }
inline Output BitwiseAnd(ScalarOperand x, Output y) { return BitwiseAnd(ScalarLike(x, y), y); }
inline Output BitwiseOr(Output x, ScalarOperand y) { return BitwiseOr(x, ScalarLike(y, x)); }
inline Output BitwiseOr(ScalarOperand x, Output y) { return BitwiseOr(ScalarLike(x, y), y); }
inline Output BitwiseXor(Output x, ScalarOperand y) { return BitwiseXor(x, ScalarLike(y, x)); }
inline Output BitwiseXor(ScalarOperand x, Output y) { return BitwiseXor(ScalarLike(x, y), y); }
inline Output LeftShift(Output x, ScalarOperand y) { return LeftShift(x, ScalarLike(y, x)); }
inline Output LeftShift(ScalarOperand x, Output y) { return LeftShift(ScalarLike(x, y), y); }
inline Output RightShift(Output x, ScalarOperand y) { return RightShift(x, ScalarLike(y, x)); }
inline Output RightShift(ScalarOperand x, Output y) { return RightShift(ScalarLike(x, y), y); }

}  // namespace sextant

#pragma GCC visibility pop
