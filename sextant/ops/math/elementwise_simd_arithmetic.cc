// Float loops of the functions that need arithmetic and comparison only.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/math/elementwise_simd_arithmetic.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "sextant/ops/math/elementwise_simd-inl.h"
#include "sextant/ops/math/elementwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

inline V Half() { return Splat(0.5f); }
inline V One() { return Splat(1.0f); }
inline V Zero() { return hn::Zero(D()); }

inline V Neg(V x) { return hn::Neg(x); }
inline V Abs(V x) { return hn::Abs(x); }
inline V Sign(V x) {
  // Zero and NaN are their own signs.
  return hn::IfThenElse(hn::Gt(x, Zero()), One(),
                        hn::IfThenElse(hn::Lt(x, Zero()), Splat(-1.0f), x));
}
inline V Square(V x) { return hn::Mul(x, x); }
inline V Sqrt(V x) { return hn::Sqrt(x); }
inline V Rsqrt(V x) { return hn::Div(One(), hn::Sqrt(x)); }
inline V Reciprocal(V x) { return hn::Div(One(), x); }
inline V Floor(V x) { return hn::Floor(x); }
inline V Ceil(V x) { return hn::Ceil(x); }
inline V Rint(V x) { return hn::Round(x); }
inline V Relu(V x) { return hn::IfThenElse(hn::Lt(x, Zero()), Zero(), x); }
inline V Relu6(V x) { return hn::IfThenElse(hn::Gt(x, Splat(6.0f)), Splat(6.0f), Relu(x)); }
inline V Softsign(V x) { return hn::Div(x, hn::Add(One(), hn::Abs(x))); }

inline V Add(V a, V b) { return hn::Add(a, b); }
inline V Sub(V a, V b) { return hn::Sub(a, b); }
inline V Mul(V a, V b) { return hn::Mul(a, b); }
inline V Div(V a, V b) { return hn::Div(a, b); }
inline V FloorDiv(V a, V b) { return hn::Floor(hn::Div(a, b)); }
// A NaN on either side is the result.
inline V Maximum(V a, V b) {
  return hn::IfThenElse(IsNan(a), a, hn::IfThenElse(hn::Gt(a, b), a, b));
}
inline V Minimum(V a, V b) {
  return hn::IfThenElse(IsNan(a), a, hn::IfThenElse(hn::Lt(a, b), a, b));
}
inline V SquaredDifference(V a, V b) { return Square(hn::Sub(a, b)); }
inline V DivNoNan(V a, V b) { return hn::IfThenZeroElse(hn::Eq(b, Zero()), hn::Div(a, b)); }
inline V MulNoNan(V a, V b) { return hn::IfThenZeroElse(hn::Eq(b, Zero()), hn::Mul(a, b)); }
inline V Xdivy(V a, V b) { return hn::IfThenZeroElse(hn::Eq(a, Zero()), hn::Div(a, b)); }
inline V LeakyRelu(V x, V alpha) { return hn::IfThenElse(hn::Gt(x, Zero()), x, hn::Mul(x, alpha)); }
inline V SigmoidGrad(V y, V dy) { return hn::Mul(hn::Mul(dy, y), hn::Sub(One(), y)); }
inline V TanhGrad(V y, V dy) { return hn::Mul(dy, hn::Sub(One(), hn::Mul(y, y))); }
// Of the next three, a gradient of 0 is 0, even at a pole.
inline V ZeroWhereZero(V dy, V value) { return hn::IfThenZeroElse(hn::Eq(dy, Zero()), value); }
inline V SqrtGrad(V y, V dy) { return ZeroWhereZero(dy, hn::Div(hn::Mul(Half(), dy), y)); }
inline V RsqrtGrad(V y, V dy) {
  return ZeroWhereZero(dy, hn::Mul(hn::Mul(Splat(-0.5f), hn::Mul(dy, y)), hn::Mul(y, y)));
}
inline V ReciprocalGrad(V y, V dy) {
  return ZeroWhereZero(dy, hn::Mul(hn::Mul(hn::Neg(y), dy), y));
}
// Multiplied, not selected: an infinite gradient of a closed unit is NaN, as in TensorFlow.
inline V ReluGrad(V g, V x) { return hn::Mul(g, hn::IfThenElseZero(hn::Gt(x, Zero()), One())); }
inline V Relu6Grad(V g, V x) {
  const M open = hn::And(hn::Gt(x, Zero()), hn::Lt(x, Splat(6.0f)));
  return hn::Mul(g, hn::IfThenElseZero(open, One()));
}
inline V EluGrad(V g, V y) {
  return hn::IfThenElse(hn::Lt(y, Zero()), hn::Mul(hn::Add(y, One()), g), g);
}
inline V SeluGrad(V g, V y) {
  return hn::IfThenElse(hn::Lt(y, Zero()), hn::Mul(g, hn::Add(y, Splat(kSeluScaleAlpha))),
                        hn::Mul(g, Splat(kSeluScale)));
}
inline V SoftsignGrad(V g, V x) { return hn::Div(g, Square(hn::Add(One(), hn::Abs(x)))); }

UnaryLoop GetUnary(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kNeg:
      return &Unary<Neg>;
    case ElementwiseOp::kAbs:
      return &Unary<Abs>;
    case ElementwiseOp::kSign:
      return &Unary<Sign>;
    case ElementwiseOp::kSquare:
      return &Unary<Square>;
    case ElementwiseOp::kSqrt:
      return &Unary<Sqrt>;
    case ElementwiseOp::kRsqrt:
      return &Unary<Rsqrt>;
    case ElementwiseOp::kReciprocal:
      return &Unary<Reciprocal>;
    case ElementwiseOp::kFloor:
      return &Unary<Floor>;
    case ElementwiseOp::kCeil:
      return &Unary<Ceil>;
    case ElementwiseOp::kRint:
      return &Unary<Rint>;
    case ElementwiseOp::kRelu:
      return &Unary<Relu>;
    case ElementwiseOp::kRelu6:
      return &Unary<Relu6>;
    case ElementwiseOp::kSoftsign:
      return &Unary<Softsign>;
    default:
      return nullptr;
  }
}

BinaryLoop GetBinary(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kAdd:
      return &Binary<Add>;
    case ElementwiseOp::kSub:
      return &Binary<Sub>;
    case ElementwiseOp::kMul:
      return &Binary<Mul>;
    case ElementwiseOp::kDiv:
      return &Binary<Div>;
    case ElementwiseOp::kFloorDiv:
      return &Binary<FloorDiv>;
    case ElementwiseOp::kMaximum:
      return &Binary<Maximum>;
    case ElementwiseOp::kMinimum:
      return &Binary<Minimum>;
    case ElementwiseOp::kSquaredDifference:
      return &Binary<SquaredDifference>;
    case ElementwiseOp::kDivNoNan:
      return &Binary<DivNoNan>;
    case ElementwiseOp::kMulNoNan:
      return &Binary<MulNoNan>;
    case ElementwiseOp::kXdivy:
      return &Binary<Xdivy>;
    case ElementwiseOp::kLeakyRelu:
      return &Binary<LeakyRelu>;
    case ElementwiseOp::kSigmoidGrad:
      return &Binary<SigmoidGrad>;
    case ElementwiseOp::kTanhGrad:
      return &Binary<TanhGrad>;
    case ElementwiseOp::kSqrtGrad:
      return &Binary<SqrtGrad>;
    case ElementwiseOp::kRsqrtGrad:
      return &Binary<RsqrtGrad>;
    case ElementwiseOp::kReciprocalGrad:
      return &Binary<ReciprocalGrad>;
    case ElementwiseOp::kReluGrad:
      return &Binary<ReluGrad>;
    case ElementwiseOp::kRelu6Grad:
      return &Binary<Relu6Grad>;
    case ElementwiseOp::kEluGrad:
      return &Binary<EluGrad>;
    case ElementwiseOp::kSeluGrad:
      return &Binary<SeluGrad>;
    case ElementwiseOp::kSoftsignGrad:
      return &Binary<SoftsignGrad>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(GetUnary);
HWY_EXPORT(GetBinary);
UnaryLoop ArithmeticUnaryLoop(ElementwiseOp op) { return HWY_DYNAMIC_DISPATCH(GetUnary)(op); }
BinaryLoop ArithmeticBinaryLoop(ElementwiseOp op) { return HWY_DYNAMIC_DISPATCH(GetBinary)(op); }
}  // namespace sextant
#endif
