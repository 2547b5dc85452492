#include "sextant/ops/sparse/sparse_reduce.h"

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseReduceTest : public SparseTest {};

TEST_F(SparseReduceTest, DenseResults) {
  const SparseTensor x = Sparse({3, 4}, {0, 1, 2, 0, 2, 3}, Tensor::Of<float>({-1, 2, 3}));
  EXPECT_TRUE(Run(SparseReduceSum(x, {1})).Identical(Tensor::Of<float>({-1, 0, 5})));
  EXPECT_TRUE(Run(SparseReduceMax(x, {-1})).Identical(Tensor::Of<float>({-1, 0, 3})));
  EXPECT_TRUE(Run(SparseReduceSum(x, {0}, {.keep_dims = true}))
                  .Identical(Tensor::Of<float>({1, 4}, {2, -1, 0, 3})));
  EXPECT_TRUE(Run(SparseReduceSum(x, {0, 1})).Identical(Tensor(4.0f)));
}

TEST_F(SparseReduceTest, SparseResults) {
  Expect(SparseReduceSumSparse(Sample(), {1}), {3}, {0, 2}, Tensor::Of<float>({1, 5}));
  Expect(SparseReduceSumSparse(Sample(), {0}, {.keep_dims = true}), {1, 4}, {0, 0, 0, 1, 0, 3},
         Tensor::Of<float>({2, 1, 3}));
  Expect(SparseReduceMaxSparse(Sample(), {0, 1}), {}, {}, Tensor::Of<float>({3}));
}

TEST_F(SparseReduceTest, RejectsBadAxes) {
  const Output axes = Const(Tensor::Of<int32_t>({2}));
  EXPECT_NE(ErrorOf(SparseReduceSumSparse(Sample(), axes).values).find("axis 2 is not in [-2, 2)"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
