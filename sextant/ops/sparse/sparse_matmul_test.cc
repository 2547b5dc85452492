#include "sextant/ops/sparse/sparse_matmul.h"

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseMatMulTest : public SparseTest {};

TEST_F(SparseMatMulTest, Multiplies) {
  const Output b = Const(Tensor::Of<float>({4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
  const Tensor product = Tensor::Of<float>({3, 2}, {2, 3, 0, 0, 18, 23});
  EXPECT_TRUE(Run(SparseTensorDenseMatMul(Sample(), b)).Identical(product));
  const Output b_transposed = Const(Tensor::Of<float>({2, 4}, {0, 2, 4, 6, 1, 3, 5, 7}));
  EXPECT_TRUE(
      Run(SparseTensorDenseMatMul(Sample(), b_transposed, {.adjoint_b = true})).Identical(product));
}

TEST_F(SparseMatMulTest, TransposesA) {
  const Output b = Const(Tensor::Of<float>({3, 1}, {1, 10, 100}));
  EXPECT_TRUE(Run(SparseTensorDenseMatMul(Sample(), b, {.adjoint_a = true}))
                  .Identical(Tensor::Of<float>({4, 1}, {200, 1, 0, 300})));
}

TEST_F(SparseMatMulTest, RepeatedEntriesAddUp) {
  const SparseTensor a = Sparse({1, 2}, {0, 1, 0, 1}, Tensor::Of<int32_t>({2, 3}));
  EXPECT_TRUE(Run(SparseTensorDenseMatMul(a, Const(Tensor::Of<int32_t>({2, 1}, {1, 7}))))
                  .Identical(Tensor::Of<int32_t>({1, 1}, {35})));
}

TEST_F(SparseMatMulTest, HalvesAreSummedInFloat) {
  // 2048 + 1 is no half: adding 1 twice to 2048 in halves would change nothing.
  const Half one(1.0f), big(2048.0f);
  const SparseTensor a = Sparse({1, 3}, {0, 0, 0, 1, 0, 2}, Tensor::Of<Half>({big, one, one}));
  const Tensor y =
      Run(SparseTensorDenseMatMul(a, Const(Tensor::Of<Half>({3, 1}, {one, one, one}))));
  EXPECT_EQ(static_cast<float>(*y.data<Half>()), 2050.0f);
}

TEST_F(SparseMatMulTest, RejectsBadIndicesAndSizes) {
  const SparseTensor a = Sparse({2, 2}, {0, 9}, Tensor::Of<float>({1}));
  const Output b = Const(Tensor::Of<float>({2, 1}, {1, 2}));
  EXPECT_NE(ErrorOf(SparseTensorDenseMatMul(a, b)).find("[0,9] is out of bounds"),
            std::string::npos);
  EXPECT_THROW(SparseTensorDenseMatMul(Sample(), b), Error);
}

}  // namespace
}  // namespace sextant
