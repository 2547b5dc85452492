#include "sextant/ops/math/matmul.h"

#include <gtest/gtest.h>

#include <complex>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class MatMulTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(MatMulTest, MultipliesAndTransposes) {
  const Output a = Const(Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Output b = Const(Tensor::Of<float>({3, 2}, {1, 0, 0, 1, 1, 1}));
  EXPECT_TRUE(Run(MatMul(a, b)).Identical(Tensor::Of<float>({2, 2}, {4, 5, 10, 11})));
  EXPECT_TRUE(Run(MatMul(a, a, {.transpose_b = true}))
                  .Identical(Tensor::Of<float>({2, 2}, {14, 32, 32, 77})));
  EXPECT_TRUE(Run(MatMul(a, a, {.transpose_a = true}))
                  .Identical(Tensor::Of<float>({3, 3}, {17, 22, 27, 22, 29, 36, 27, 36, 45})));
}

TEST_F(MatMulTest, OtherTypes) {
  const auto square = [&]<typename T>(T) {
    const Tensor x = Tensor::Of<T>({2, 2}, {T(1), T(2), T(3), T(4)});
    EXPECT_TRUE(Run(MatMul(Const(x), Const(x)))
                    .Identical(Tensor::Of<T>({2, 2}, {T(7), T(10), T(15), T(22)})));
  };
  square(double{});
  square(int32_t{});
  square(uint8_t{});
  square(Half{});
  square(BFloat16{});
  square(std::complex<float>{});
}

TEST_F(MatMulTest, AdjointConjugates) {
  using C = std::complex<double>;
  const Output x = Const(Tensor::Of<C>({1, 1}, {C(1, 2)}));
  EXPECT_TRUE(Run(BatchMatMul(x, x, {.adj_x = true})).Identical(Tensor::Of<C>({1, 1}, {C(5, 0)})));
}

TEST_F(MatMulTest, BatchesAreBroadcast) {
  const Output x = Const(Tensor::Of<float>({2, 1, 1, 2}, {1, 2, 3, 4}));
  const Output y = Const(Tensor::Of<float>({3, 2, 1}, {1, 0, 0, 1, 1, 1}));
  EXPECT_TRUE(
      Run(BatchMatMul(x, y)).Identical(Tensor::Of<float>({2, 3, 1, 1}, {1, 2, 3, 3, 4, 7})));
}

TEST_F(MatMulTest, NothingToSumGivesZeros) {
  const Output a = Const(Tensor(DType::kFloat, {2, 0})), b = Const(Tensor(DType::kFloat, {0, 2}));
  EXPECT_TRUE(Run(MatMul(a, b)).Identical(Tensor::Zeros(DType::kFloat, {2, 2})));
}

TEST_F(MatMulTest, NamesTheShapesThatDoNotFit) {
  const auto feed = [] { return OpBuilder("Placeholder").Attr("dtype", DType::kFloat).Build(); };
  const Output a = feed(), b = feed(), y = MatMul(a, b);
  try {
    Session(graph_).Run({{a, Tensor(DType::kFloat, {2, 3})}, {b, Tensor(DType::kFloat, {4, 2})}},
                        y);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("Matrix size-incompatible: In[0]: [2,3], In[1]: [4,2]"),
              std::string::npos)
        << e.message();
  }
}

}  // namespace
}  // namespace sextant
