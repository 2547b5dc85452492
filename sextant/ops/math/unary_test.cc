#include "sextant/ops/math/unary.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/math/elementwise_loops.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor Eval(Output (*op)(Output), const Tensor& x) {
  Graph graph;
  GraphScope use(graph);
  const Output y = op(Const(x));
  return Session(graph).Run(y);
}

struct Reference {
  ElementwiseOp op;
  double (*f)(double);
  double low, high;
};

TEST(FloatLoopsTest, AreAccurate) {
  const Reference references[] = {
      {ElementwiseOp::kExp, [](double x) { return std::exp(x); }, -80, 88},
      {ElementwiseOp::kExpm1, [](double x) { return std::expm1(x); }, -5, 5},
      {ElementwiseOp::kLog, [](double x) { return std::log(x); }, 1e-5, 100},
      {ElementwiseOp::kLog1p, [](double x) { return std::log1p(x); }, -0.99, 10},
      {ElementwiseOp::kSin, [](double x) { return std::sin(x); }, -40, 40},
      {ElementwiseOp::kCos, [](double x) { return std::cos(x); }, -1e6, 1e6},
      {ElementwiseOp::kTanh, [](double x) { return std::tanh(x); }, -12, 12},
      {ElementwiseOp::kSigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -30, 30},
      {ElementwiseOp::kSoftplus, [](double x) { return std::log1p(std::exp(x)); }, -30, 30},
      {ElementwiseOp::kRsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e-3, 100},
  };
  for (const Reference& r : references) {
    const int count = 10007;
    std::vector<float> x(count), y(count);
    for (int i = 0; i < count; ++i) x[i] = static_cast<float>(r.low + (r.high - r.low) * i / count);
    FloatUnaryLoop(r.op)(x.data(), y.data(), count);
    for (int i = 0; i < count; ++i) {
      const double expected = r.f(x[i]);
      ASSERT_NEAR(y[i], expected, 1e-6 * std::abs(expected) + 2e-7)
          << static_cast<int>(r.op) << " of " << x[i];
    }
  }
}

TEST(FloatLoopsTest, GiveTheSameBitsWhereverTheArrayIsCut) {
  std::vector<float> x(37);
  for (int i = 0; i < 37; ++i) x[i] = 0.37f * static_cast<float>(i) - 5.0f;
  x[5] = kNan;
  x[11] = 1e30f;
  for (int op = 0; op < static_cast<int>(ElementwiseOp::kCount); ++op) {
    const auto function = static_cast<ElementwiseOp>(op);
    std::vector<float> whole(37), pieces(37);
    const auto run = [&](std::vector<float>& out, int begin, int length) {
      if (ElementwiseArity(function) == 1) {
        FloatUnaryLoop(function)(&x[begin], &out[begin], length);
      } else {
        FloatBinaryLoop(function)(&x[begin], 1, &x[3], 0, &out[begin], length);
      }
    };
    run(whole, 0, 37);
    for (int begin = 0, length = 1; begin < 37; begin += length, ++length) {
      run(pieces, begin, std::min(length, 37 - begin));
    }
    for (int i = 0; i < 37; ++i) {
      EXPECT_EQ(std::bit_cast<uint32_t>(whole[i]), std::bit_cast<uint32_t>(pieces[i]))
          << "function " << op << " at " << i;
    }
  }
}

TEST(UnaryTest, HandlesSpecialValues) {
  const Tensor x = Tensor::Of<float>({0.0f, kInf, -kInf, kNan, -1.0f});
  const Tensor e = Eval(Exp, x), l = Eval(Log, x), r = Eval(Rsqrt, x);
  EXPECT_EQ(e.data<float>()[1], kInf);
  EXPECT_EQ(e.data<float>()[2], 0.0f);
  EXPECT_TRUE(std::isnan(e.data<float>()[3]));
  EXPECT_EQ(l.data<float>()[0], -kInf);
  EXPECT_EQ(l.data<float>()[1], kInf);
  EXPECT_TRUE(std::isnan(l.data<float>()[3]));
  EXPECT_TRUE(std::isnan(l.data<float>()[4]));
  EXPECT_EQ(r.data<float>()[0], kInf);
  EXPECT_EQ(r.data<float>()[1], 0.0f);
}

TEST(UnaryTest, RoundsHalvesToEven) {
  const Tensor y = Eval(Round, Tensor::Of<float>({0.5f, 1.5f, 2.5f, -0.5f, -1.5f}));
  EXPECT_TRUE(y.Identical(Tensor::Of<float>({0.0f, 2.0f, 2.0f, -0.0f, -2.0f})));
}

TEST(UnaryTest, IntegersWrapAround) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(Eval(Neg, Tensor(least)).scalar<int32_t>(), least);
  EXPECT_EQ(Eval(Abs, Tensor(least)).scalar<int32_t>(), least);
  EXPECT_EQ(Eval(Square, Tensor(int32_t{65536})).scalar<int32_t>(), 0);
}

TEST(UnaryTest, HalfIsComputedInFloat) {
  const Tensor y = Eval(Exp, Tensor::Of<Half>({Half(1.0f), Half(-20.0f)}));
  EXPECT_EQ(y.data<Half>()[0].bits, Half(2.7182817f).bits);
  EXPECT_EQ(y.data<Half>()[1].bits, 0);
}

}  // namespace
}  // namespace sextant
