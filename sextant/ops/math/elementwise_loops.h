// Loops over the elements of plain tensors, and the table of those for float.
//
// The result for an element depends on that element alone, never on its neighbours or its place: a
// tensor may be cut anywhere and gives the same bits. Output and inputs may be one buffer.
#pragma once

#include <cstdint>

#include "sextant/graph/elementwise_table.h"

namespace sextant {

using UnaryLoop = void (*)(const void* x, void* y, int64_t count);
// A step is 1, or 0 when one element stands for all.
using BinaryLoop = void (*)(const void* a, int64_t a_step, const void* b, int64_t b_step, void* out,
                            int64_t count);

// The loops for float, made for the instruction set of this machine.
// REQUIRES: ElementwiseArity(op) is 1, or 2.
UnaryLoop FloatUnaryLoop(ElementwiseOp op);
BinaryLoop FloatBinaryLoop(ElementwiseOp op);
// Approximate nanoseconds per float.
double FloatLoopCost(ElementwiseOp op);

}  // namespace sextant
