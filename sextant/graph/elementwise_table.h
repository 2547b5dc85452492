// The element-wise ops that can be computed together: which op means which function. The float
// loops (ops/math/elementwise_loops.h), the fused region (ops/fused) and the pass that makes
// regions (runtime/passes) all go by this table.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

enum class ElementwiseOp : uint8_t {
  // Functions of one number.
  kNeg,
  kAbs,
  kSign,
  kSquare,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kExp,
  kExpm1,
  kLog,
  kLog1p,
  kSin,
  kCos,
  kTanh,
  kSigmoid,
  kErf,
  kFloor,
  kCeil,
  kRint,
  kRelu,
  kRelu6,
  kElu,
  kSelu,
  kSoftplus,
  kSoftsign,
  // Functions of two numbers.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMaximum,
  kMinimum,
  kSquaredDifference,
  kDivNoNan,
  kMulNoNan,
  kXdivy,
  kXlogy,
  kPow,
  kLeakyRelu,
  // Gradients: their operands have one shape, those of the others are broadcast.
  kSigmoidGrad,
  kTanhGrad,
  kSqrtGrad,
  kRsqrtGrad,
  kReciprocalGrad,
  kReluGrad,
  kRelu6Grad,
  kEluGrad,
  kSeluGrad,
  kSoftplusGrad,
  kSoftsignGrad,
  kCount
};

constexpr int ElementwiseArity(ElementwiseOp op) { return op < ElementwiseOp::kAdd ? 1 : 2; }
constexpr bool ElementwiseBroadcasts(ElementwiseOp op) { return op < ElementwiseOp::kSigmoidGrad; }

struct ElementwiseEntry {
  std::string_view op;
  ElementwiseOp function;
};

// Ops whose float kernel computes z[i] = f(x[i], ...) from inputs 0 and 1 alone. The second operand
// of LeakyRelu is its attribute "alpha"; BiasAdd is an addition along the last dimension (NHWC);
// AddN adds its inputs from the first to the last.
inline constexpr ElementwiseEntry kElementwiseTable[] = {
    {"Neg", ElementwiseOp::kNeg},
    {"Abs", ElementwiseOp::kAbs},
    {"Sign", ElementwiseOp::kSign},
    {"Square", ElementwiseOp::kSquare},
    {"Sqrt", ElementwiseOp::kSqrt},
    {"Rsqrt", ElementwiseOp::kRsqrt},
    {"Reciprocal", ElementwiseOp::kReciprocal},
    {"Inv", ElementwiseOp::kReciprocal},
    {"Exp", ElementwiseOp::kExp},
    {"Expm1", ElementwiseOp::kExpm1},
    {"Log", ElementwiseOp::kLog},
    {"Log1p", ElementwiseOp::kLog1p},
    {"Sin", ElementwiseOp::kSin},
    {"Cos", ElementwiseOp::kCos},
    {"Tanh", ElementwiseOp::kTanh},
    {"Sigmoid", ElementwiseOp::kSigmoid},
    {"Erf", ElementwiseOp::kErf},
    {"Floor", ElementwiseOp::kFloor},
    {"Ceil", ElementwiseOp::kCeil},
    {"Rint", ElementwiseOp::kRint},
    {"Round", ElementwiseOp::kRint},
    {"Relu", ElementwiseOp::kRelu},
    {"Relu6", ElementwiseOp::kRelu6},
    {"Elu", ElementwiseOp::kElu},
    {"Selu", ElementwiseOp::kSelu},
    {"Softplus", ElementwiseOp::kSoftplus},
    {"Softsign", ElementwiseOp::kSoftsign},
    {"Add", ElementwiseOp::kAdd},
    {"AddV2", ElementwiseOp::kAdd},
    {"AddN", ElementwiseOp::kAdd},
    {"BiasAdd", ElementwiseOp::kAdd},
    {"Sub", ElementwiseOp::kSub},
    {"Mul", ElementwiseOp::kMul},
    {"RealDiv", ElementwiseOp::kDiv},
    {"Div", ElementwiseOp::kDiv},
    {"FloorDiv", ElementwiseOp::kFloorDiv},
    {"Maximum", ElementwiseOp::kMaximum},
    {"Minimum", ElementwiseOp::kMinimum},
    {"SquaredDifference", ElementwiseOp::kSquaredDifference},
    {"DivNoNan", ElementwiseOp::kDivNoNan},
    {"MulNoNan", ElementwiseOp::kMulNoNan},
    {"Xdivy", ElementwiseOp::kXdivy},
    {"Xlogy", ElementwiseOp::kXlogy},
    {"Pow", ElementwiseOp::kPow},
    {"LeakyRelu", ElementwiseOp::kLeakyRelu},
    {"SigmoidGrad", ElementwiseOp::kSigmoidGrad},
    {"TanhGrad", ElementwiseOp::kTanhGrad},
    {"SqrtGrad", ElementwiseOp::kSqrtGrad},
    {"RsqrtGrad", ElementwiseOp::kRsqrtGrad},
    {"ReciprocalGrad", ElementwiseOp::kReciprocalGrad},
    {"InvGrad", ElementwiseOp::kReciprocalGrad},
    {"ReluGrad", ElementwiseOp::kReluGrad},
    {"Relu6Grad", ElementwiseOp::kRelu6Grad},
    {"EluGrad", ElementwiseOp::kEluGrad},
    {"SeluGrad", ElementwiseOp::kSeluGrad},
    {"SoftplusGrad", ElementwiseOp::kSoftplusGrad},
    {"SoftsignGrad", ElementwiseOp::kSoftsignGrad},
};

// The entry of an op, or null.
constexpr const ElementwiseEntry* FindElementwise(std::string_view op) {
  for (const ElementwiseEntry& entry : kElementwiseTable) {
    if (entry.op == op) return &entry;
  }
  return nullptr;
}

// Whether a region of this shape can read the input: one element, or the shape's last dimensions,
// repeated along the others. Shape and PartialShape, fully known.
template <typename S>
bool RepeatsAsBlock(const S& input, const S& shape) {
  if (input.rank() > shape.rank()) return false;
  if (input.num_elements() == 1) return true;
  bool leading = false;
  for (int i = 1; i <= input.rank(); ++i) {
    const int64_t size = input[input.rank() - i];
    if (size != shape[shape.rank() - i]) leading = true;
    if (leading && size != 1) return false;
  }
  return true;
}

}  // namespace sextant
