// The values of the folder's ops on small matrices, worked by hand or by TensorFlow.
#include "sextant/ops/linalg/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/linalg/matrix_solve.h"
#include "sextant/ops/linalg/qr.h"
#include "sextant/ops/linalg/self_adjoint_eig.h"
#include "sextant/ops/linalg/svd.h"
#include "sextant/ops/linalg/triangular_solve.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class LinalgTest : public testing::Test {
 protected:
  void Expect(Output y, std::initializer_list<double> values) {
    const Tensor got = Session(graph_).Run(y);
    ASSERT_EQ(static_cast<size_t>(got.num_elements()), values.size());
    for (int64_t i = 0; i < got.num_elements(); ++i) {
      EXPECT_NEAR(got.data<double>()[i], values.begin()[i], 1e-12) << y.name() << " " << i;
    }
  }
  static Output Square(std::initializer_list<double> values) {
    const auto size = static_cast<int64_t>(std::lround(std::sqrt(values.size())));
    return Const(Tensor::Of<double>({size, size}, values));
  }
  std::string ErrorOf(Output y) {
    return StatusOf([&] { Session(graph_).Run(y); }).ToString();
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(LinalgTest, CholeskyReadsTheLowerHalf) {
  const Output x = Square({4, 99, 2, 10});
  const Output l = Cholesky(x);
  Expect(l, {2, 0, 1, 3});
  EXPECT_THROW(Cholesky(Const(Tensor::Zeros(DType::kDouble, {2, 3}))), Error);
}

TEST_F(LinalgTest, CholeskyOfMatricesWithoutFactors) {
  const Tensor got = Session(graph_).Run(
      Cholesky(Const(Tensor::Of<float>({3, 2, 2}, {1, 2, 2, 4, 4, 0, 2, 10, 1, 2, 2, 1}))));
  const auto* l = got.data<float>();
  for (const int i : {0, 2, 3, 8, 10, 11}) EXPECT_TRUE(std::isnan(l[i])) << i;
  EXPECT_EQ(std::vector<float>(l + 4, l + 8), (std::vector<float>{2, 0, 1, 3}));
  EXPECT_EQ(l[1], 0);
  const std::complex<float> one = 1, two = 2, four = 4;
  const Output complex =
      Cholesky(Const(Tensor::Of<std::complex<float>>({2, 2}, {one, two, two, four})));
  EXPECT_TRUE(Session(graph_).Run(complex).Identical(Tensor::Zeros(DType::kComplex64, {2, 2})));
}

// For L = [[2,0],[1,3]] and the gradient of l11 + 2 l21 + 3 l22, by TensorFlow.
TEST_F(LinalgTest, CholeskyGradientIsSymmetric) {
  const Output x = Square({4, 2, 2, 10});
  const Output weights = Square({1, 0, 2, 3});
  const Output grad = Gradients({Cholesky(x)}, {x}, {.grad_ys = {weights}})[0].dense();
  const Output op_grad = OpBuilder("CholeskyGrad").Input(Cholesky(x)).Input(weights).Build();
  const auto values = Session(graph_).Run({grad, op_grad});
  for (int i = 0; i < 4; ++i) {
    EXPECT_NEAR(values[0].data<double>()[i], values[1].data<double>()[i], 1e-12);
  }
  Expect(grad, {0.125, 0.25, 0.25, 0.5});
}

TEST_F(LinalgTest, InvertsAndSolves) {
  const Output a = Square({2, 1, 4, 3});
  Expect(MatrixInverse(a), {1.5, -0.5, -2, 1});
  Expect(MatrixInverse(a, true), {1.5, -2, -0.5, 1});
  const Output rhs = Const(Tensor::Of<double>({2, 1}, {3, 7}));
  Expect(MatrixSolve(a, rhs), {1, 1});
  Expect(MatrixSolve(a, rhs, true), {-9.5, 5.5});
  Expect(MatrixDeterminant(a), {2});
  const auto [sign, log] = LogMatrixDeterminant(Square({1, 4, 2, 3}));
  Expect(sign, {-1});
  Expect(log, {std::log(5)});
  EXPECT_NE(ErrorOf(MatrixInverse(Square({1, 2, 2, 4}))).find("not invertible"), std::string::npos);
  EXPECT_EQ(Session(graph_).Run(MatrixDeterminant(Square({1, 2, 2, 4}))).scalar<double>(), 0);
}

TEST_F(LinalgTest, MatricesWithNanAreAsInTensorFlow) {
  const double nan = std::nan("");
  const Output first = Square({1, 2, nan, 4}), last = Square({1, nan, 3, 4});
  EXPECT_NE(ErrorOf(MatrixInverse(first)).find("Input is not invertible."), std::string::npos);
  EXPECT_TRUE(std::isnan(Session(graph_).Run(MatrixInverse(last)).data<double>()[0]));
  for (const Output& x : {first, last}) {
    Expect(MatrixDeterminant(x), {0});
    const auto [sign, log] = LogMatrixDeterminant(x);
    Expect(sign, {0});
    EXPECT_EQ(Session(graph_).Run(log).scalar<double>(), -HUGE_VAL);
  }
}

TEST_F(LinalgTest, LuPermutesRows) {
  const auto [lu, p] = Lu(Square({1, 2, 3, 4, 5, 6, 7, 8, 10}));
  Expect(lu, {7, 8, 10, 1. / 7, 6. / 7, 11. / 7, 4. / 7, 0.5, -0.5});
  EXPECT_TRUE(Session(graph_).Run(p).Identical(Tensor::Of<int32_t>({2, 0, 1})));
}

TEST_F(LinalgTest, SolvesTriangularSystems) {
  const Output a = Square({2, 99, 1, 4});
  const Output rhs = Const(Tensor::Of<double>({2, 1}, {4, 10}));
  Expect(MatrixTriangularSolve(a, rhs), {2, 2});
  Expect(MatrixTriangularSolve(a, rhs, {.adjoint = true}), {0.75, 2.5});
  Expect(MatrixTriangularSolve(Square({2, 1, 99, 5}), rhs, {.lower = false}), {1, 2});
  const Tensor divided = Session(graph_).Run(MatrixTriangularSolve(Square({0, 0, 2, 4}), rhs));
  EXPECT_EQ(divided.data<double>()[0], HUGE_VAL);
  EXPECT_EQ(divided.data<double>()[1], -HUGE_VAL);
}

TEST_F(LinalgTest, QrHasTheSignsOfHouseholder) {
  const auto [q, r] = Qr(Square({3, 1, 4, 2}));
  Expect(q, {-0.6, -0.8, -0.8, 0.6});
  Expect(r, {-5, -2.2, 0, 0.4});
  const auto full = Qr(Const(Tensor::Of<double>({2, 1}, {3, 4})), true);
  Expect(full.first, {-0.6, -0.8, -0.8, 0.6});
  Expect(full.second, {-5, 0});
}

TEST_F(LinalgTest, DecomposesIntoEigenAndSingularValues) {
  const auto [e, v] = SelfAdjointEig(Square({2, 99, 1, 2}));
  Expect(e, {1, 3});
  Expect(BatchMatMul(v, v, {.adj_x = true}), {1, 0, 0, 1});
  const Output x = Const(Tensor::Of<double>({2, 3}, {3, 0, 0, 0, -5, 0}));
  const SvdResult svd = Svd(x);
  Expect(svd.s, {5, 3});
  EXPECT_EQ(svd.v.shape(), (PartialShape{3, 2}));
  const SvdResult values = Svd(x, {.compute_uv = false});
  Expect(values.s, {5, 3});
  EXPECT_EQ(Session(graph_).Run(values.u).shape(), (Shape{0}));
}

}  // namespace
}  // namespace sextant
