// Float loops of the functions that need exp, log and their kin. Highway's versions are accurate to
// 4 ulp inside their ranges; what lies outside (NaN, infinities, zero, large angles) is put right
// here.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/math/elementwise_simd_transcendental.cc"
#include <cmath>
#include <limits>

// The order matters.
// clang-format off
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on
#include "sextant/ops/math/elementwise_simd-inl.h"
#include "sextant/ops/math/elementwise_simd.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

inline V One() { return Splat(1.0f); }
inline V Zero() { return hn::Zero(D()); }
inline V Infinity() { return Splat(std::numeric_limits<float>::infinity()); }
inline V NotANumber() { return Splat(std::numeric_limits<float>::quiet_NaN()); }
inline V KeepNan(V x, V result) { return hn::IfThenElse(IsNan(x), x, result); }

inline V Exp(V x) {
  // e^89 is infinite in float and e^-104 zero.
  const V bounded = hn::Min(hn::Max(x, Splat(-104.0f)), Splat(89.0f));
  return KeepNan(x, hn::Exp(D(), bounded));
}
inline V Expm1(V x) {
  const V bounded = hn::Min(hn::Max(x, Splat(-104.0f)), Splat(89.0f));
  const V result = hn::Expm1(D(), bounded);
  // Keeps the sign of zero and what is too small to matter.
  return hn::IfThenElse(hn::Lt(hn::Abs(x), Splat(1e-7f)), x, KeepNan(x, result));
}
// The value of a logarithm at 0 (or -1), below it, at infinity and NaN, given its value elsewhere.
inline V LogEdges(V x, float pole, V result) {
  const V at_pole = hn::IfThenElse(hn::Eq(x, Splat(pole)), hn::Neg(Infinity()), result);
  const V below = hn::IfThenElse(hn::Lt(x, Splat(pole)), NotANumber(), at_pole);
  return hn::IfThenElse(hn::Or(IsNan(x), hn::Eq(x, Infinity())), x, below);
}
inline V Log(V x) { return LogEdges(x, 0.0f, hn::Log(D(), x)); }
inline V Log1p(V x) { return LogEdges(x, -1.0f, hn::Log1p(D(), x)); }
inline V Tanh(V x) {
  const V result = hn::Tanh(D(), hn::Min(hn::Max(x, Splat(-20.0f)), Splat(20.0f)));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), Splat(1e-4f)), x, KeepNan(x, result));
}
inline V Sigmoid(V x) { return hn::Div(One(), hn::Add(One(), Exp(hn::Neg(x)))); }

// Angles beyond the range of the vector version, NaN among them, are done one by one.
template <float (*f)(float)>
HWY_NOINLINE V BeyondRange(V x, V result, M in_range) {
  HWY_ALIGN float in[hn::MaxLanes(D())], out[hn::MaxLanes(D())];
  hn::Store(x, D(), in);
  for (size_t i = 0; i < hn::Lanes(D()); ++i) out[i] = f(in[i]);
  return hn::IfThenElse(in_range, result, hn::Load(D(), out));
}
inline float ScalarSin(float x) { return std::sin(x); }
inline float ScalarCos(float x) { return std::cos(x); }
inline V Sin(V x) {
  const M in_range = hn::Lt(hn::Abs(x), Splat(30000.0f));
  const V result = hn::Sin(D(), x);
  return HWY_LIKELY(hn::AllTrue(D(), in_range)) ? result
                                                : BeyondRange<ScalarSin>(x, result, in_range);
}
inline V Cos(V x) {
  const M in_range = hn::Lt(hn::Abs(x), Splat(30000.0f));
  const V result = hn::Cos(D(), x);
  return HWY_LIKELY(hn::AllTrue(D(), in_range)) ? result
                                                : BeyondRange<ScalarCos>(x, result, in_range);
}

inline V Elu(V x) { return hn::IfThenElse(hn::Lt(x, Zero()), Expm1(x), x); }
inline V Selu(V x) {
  return hn::IfThenElse(hn::Lt(x, Zero()), hn::Mul(Splat(kSeluScaleAlpha), Expm1(x)),
                        hn::Mul(Splat(kSeluScale), x));
}
inline V Softplus(V x) {
  // Beyond this, log(1 + e^x) is x, or e^x, to the last bit of a float.
  const V threshold = Splat(13.942385f);
  const V e = Exp(x);
  const V small = hn::IfThenElse(hn::Lt(x, hn::Neg(threshold)), e, Log1p(e));
  return KeepNan(x, hn::IfThenElse(hn::Gt(x, threshold), x, small));
}
inline V SoftplusGrad(V g, V x) { return hn::Div(g, hn::Add(Exp(hn::Neg(x)), One())); }
inline V Xlogy(V x, V y) { return hn::IfThenZeroElse(hn::Eq(x, Zero()), hn::Mul(x, Log(y))); }

// No vector versions: the library's, one by one.
void Erf(const void* x, void* y, int64_t count) {
  const float* in = static_cast<const float*>(x);
  float* out = static_cast<float*>(y);
  for (int64_t i = 0; i < count; ++i) out[i] = std::erf(in[i]);
}
void Pow(const void* a_data, int64_t a_step, const void* b_data, int64_t b_step, void* out_data,
         int64_t count) {
  const float* a = static_cast<const float*>(a_data);
  const float* b = static_cast<const float*>(b_data);
  float* out = static_cast<float*>(out_data);
  for (int64_t i = 0; i < count; ++i) {
    const float base = a[i * a_step], exponent = b[i * b_step];
    out[i] = exponent == 2.0f ? base * base : std::pow(base, exponent);
  }
}

UnaryLoop GetUnary(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kExp:
      return &Unary<Exp>;
    case ElementwiseOp::kExpm1:
      return &Unary<Expm1>;
    case ElementwiseOp::kLog:
      return &Unary<Log>;
    case ElementwiseOp::kLog1p:
      return &Unary<Log1p>;
    case ElementwiseOp::kSin:
      return &Unary<Sin>;
    case ElementwiseOp::kCos:
      return &Unary<Cos>;
    case ElementwiseOp::kTanh:
      return &Unary<Tanh>;
    case ElementwiseOp::kSigmoid:
      return &Unary<Sigmoid>;
    case ElementwiseOp::kErf:
      return &Erf;
    case ElementwiseOp::kElu:
      return &Unary<Elu>;
    case ElementwiseOp::kSelu:
      return &Unary<Selu>;
    case ElementwiseOp::kSoftplus:
      return &Unary<Softplus>;
    default:
      return nullptr;
  }
}

BinaryLoop GetBinary(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kXlogy:
      return &Binary<Xlogy>;
    case ElementwiseOp::kPow:
      return &Pow;
    case ElementwiseOp::kSoftplusGrad:
      return &Binary<SoftplusGrad>;
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

UnaryLoop TranscendentalUnaryLoop(ElementwiseOp op) { return HWY_DYNAMIC_DISPATCH(GetUnary)(op); }
BinaryLoop TranscendentalBinaryLoop(ElementwiseOp op) {
  return HWY_DYNAMIC_DISPATCH(GetBinary)(op);
}

UnaryLoop FloatUnaryLoop(ElementwiseOp op) {
  const UnaryLoop loop = ArithmeticUnaryLoop(op);
  return loop ? loop : TranscendentalUnaryLoop(op);
}
BinaryLoop FloatBinaryLoop(ElementwiseOp op) {
  const BinaryLoop loop = ArithmeticBinaryLoop(op);
  return loop ? loop : TranscendentalBinaryLoop(op);
}
double FloatLoopCost(ElementwiseOp op) {
  if (op == ElementwiseOp::kErf || op == ElementwiseOp::kPow) return 15.0;
  const bool arithmetic = ElementwiseArity(op) == 1 ? ArithmeticUnaryLoop(op) != nullptr
                                                    : ArithmeticBinaryLoop(op) != nullptr;
  return arithmetic ? 0.3 : 1.5;
}
}  // namespace sextant
#endif
