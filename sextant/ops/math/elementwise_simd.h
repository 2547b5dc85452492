// The two halves of the table of float loops, each null for the functions that the other has.
#pragma once

#include "sextant/ops/math/elementwise_loops.h"

namespace sextant {

// The constants of the self-normalising exponential unit, and their product.
inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

UnaryLoop ArithmeticUnaryLoop(ElementwiseOp op);
BinaryLoop ArithmeticBinaryLoop(ElementwiseOp op);
UnaryLoop TranscendentalUnaryLoop(ElementwiseOp op);
BinaryLoop TranscendentalBinaryLoop(ElementwiseOp op);

}  // namespace sextant
