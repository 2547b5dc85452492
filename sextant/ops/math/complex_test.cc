#include "sextant/ops/math/complex.h"

#include <gtest/gtest.h>

#include <complex>
#include <functional>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/control_flow/tensor_list.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

using C = std::complex<float>;

// Expected values are TensorFlow 2.15's.
class ComplexTest : public testing::Test {
 protected:
  template <typename T>
  void Expect(Output y, const std::vector<T>& expected) {
    const Tensor value = Session(graph_).Run(y);
    ASSERT_EQ(value.num_elements(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LT(std::abs(value.data<T>()[i] - expected[i]), 2e-6F * (1 + std::abs(expected[i])))
          << i;
    }
  }
  // A real number that both parts of z go into.
  Output Loss(Output z) {
    const Output w = Const(Tensor::Of<float>({1, 2, 3})),
                 v = Const(Tensor::Of<float>({0.5F, -1, 2}));
    return Sum(w * Real(z) + v * Imag(z), {0});
  }

  Graph graph_;
  GraphScope scope_{graph_};
  const Output x_ = Const(Tensor::Of<C>({C(1, 2), C(-0.5F, 0.25F), C(3, -1)}));
  const Output y_ = Const(Tensor::Of<C>({C(0.5F, -1), C(2, 1), C(-1, 0.5F)}));
};

TEST_F(ComplexTest, PartsAndTheirSum) {
  Expect<float>(Real(x_), {1, -0.5F, 3});
  Expect<float>(Imag(x_), {2, 0.25F, -1});
  Expect<float>(Abs(x_), {2.236068F, 0.559017F, 3.162278F});
  Expect<float>(Angle(x_), {1.107149F, 2.677945F, -0.321751F});
  Expect<C>(Conj(x_), {C(1, -2), C(-0.5F, -0.25F), C(3, 1)});
  Expect<C>(Complex(Real(x_), Imag(x_)), {C(1, 2), C(-0.5F, 0.25F), C(3, -1)});
  Expect<C>(Complex(Const(Tensor(2.0F)), Imag(x_)), {C(2, 2), C(2, 0.25F), C(2, -1)});
  const Output wide = Complex(Const(Tensor(1.5)), Const(Tensor(-2.5)));
  EXPECT_EQ(wide.dtype(), DType::kComplex128);
  EXPECT_EQ(Session(graph_).Run(Imag(wide)).scalar<double>(), -2.5);
}

TEST_F(ComplexTest, ConjugatesOfListsAreLists) {
  const Output any = ShapeConstant(PartialShape());
  const Output list = TensorListPushBack(EmptyTensorList(any, DType::kComplex64), x_);
  const Output conj = OpBuilder("Conj").Input(list).Build();
  Expect<C>(TensorListGetItem(conj, Const(Tensor(0)), any, DType::kComplex64),
            {C(1, -2), C(-0.5F, -0.25F), C(3, 1)});
}

TEST_F(ComplexTest, RealTensorsPass) {
  const Output real = Const(Tensor::Of<float>({1, -2}));
  EXPECT_EQ(Real(real), real);
  EXPECT_EQ(Conj(real), real);
  Expect<float>(Imag(real), {0, 0});
  Expect<float>(Angle(real), {0, 3.1415927F});
}

TEST_F(ComplexTest, Gradients) {
  struct Case {
    const char* name;
    Output loss;
    std::vector<C> by_x, by_y;
  };
  const Output w = Const(Tensor::Of<float>({1, 2, 3}));
  const Case cases[] = {
      {"mul",
       Loss(x_ * y_),
       {C(0, 1.25F), C(3, -4), C(-2, -3.5F)},
       {C(2, -1.5F), C(-1.25F, 0), C(7, 9)}},
      {"div",
       Loss(RealDiv(x_, y_)),
       {C(0.8F, -0.6F), C(1, 0), C(-3.2F, -0.4F)},
       {C(1.92F, 0.56F), C(0.15F, 0.2F), C(-9.12F, 0.16F)}},
      {"square", Loss(Square(x_)), {C(4, -3), C(-2.5F, 0), C(14, 18)}, {}},
      {"conj", Loss(Conj(x_)), {C(1, -0.5F), C(2, 1), C(3, -2)}, {}},
      {"abs",
       Sum(w * Abs(x_), {0}),
       {C(0.447214F, 0.894427F), C(-1.788854F, 0.894427F), C(2.84605F, -0.948683F)},
       {}},
      {"angle", Sum(w * Angle(x_), {0}), {C(-0.4F, 0.2F), C(-1.6F, -3.2F), C(0.3F, 0.9F)}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto gradients = Gradients(c.loss, {x_, y_});
    Expect<C>(gradients[0].dense(), c.by_x);
    if (!c.by_y.empty()) Expect<C>(gradients[1].dense(), c.by_y);
  }
}

TEST_F(ComplexTest, GradientsOfComplexAndOfMatrixProducts) {
  const Output a = Const(Tensor::Of<float>({1, 2, 3})), b = Const(Tensor(0.5F));
  const auto gradients = Gradients(Loss(Complex(a, b) * x_), {a, b});
  Expect<float>(gradients[0].dense(), {2, -1.25F, 7});
  Expect<float>(gradients[1].dense(), {7.5F});
  const Output m = Const(Tensor::Of<C>({2, 2}, {C(1, 2), C(-0.5F, 0.25F), C(3, -1), C(0.5F, -1)}));
  const Output weights = Const(Tensor::Of<float>({2, 2}, {1, 2, 3, 4}));
  Expect<C>(Gradients(Sum(Real(MatMul(m, m)) * weights, {0, 1}), {m})[0].dense(),
            {C(10, -1.5F), C(18, 3), C(2, -4.25F), C(12, 10.5F)});
  const Output zero = Const(Tensor::Of<C>({C(0, 0)}));
  Expect<C>(Gradients(Sum(Abs(zero), {0}), {zero})[0].dense(), {C(0, 0)});
}

}  // namespace
}  // namespace sextant
