#include "sextant/ops/sparse/sparse_cwise.h"

#include <limits>

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseCwiseTest : public SparseTest {};

TEST_F(SparseCwiseTest, DenseIsBroadcast) {
  const Output row = Const(Tensor::Of<float>({10, 20, 30, 40}));
  const Output column = Const(Tensor::Of<float>({3, 1}, {10, 20, 30}));
  EXPECT_TRUE(Run(SparseDenseCwiseAdd(Sample(), row)).Identical(Tensor::Of<float>({21, 12, 43})));
  EXPECT_TRUE(
      Run(SparseDenseCwiseMul(Sample(), column)).Identical(Tensor::Of<float>({10, 60, 90})));
  EXPECT_TRUE(Run(SparseDenseCwiseDiv(Sample(), Const(Tensor(2.0f))))
                  .Identical(Tensor::Of<float>({0.5f, 1, 1.5f})));
}

TEST_F(SparseCwiseTest, IntegersAreCutTowardsZero) {
  const int32_t least = std::numeric_limits<int32_t>::min();
  const SparseTensor x = Sparse({3}, {0, 1, 2}, Tensor::Of<int32_t>({-7, 8, least}));
  EXPECT_TRUE(Run(SparseDenseCwiseDiv(x, Const(Tensor::Of<int32_t>({2, 2, -1}))))
                  .Identical(Tensor::Of<int32_t>({-3, 4, least})));
}

TEST_F(SparseCwiseTest, RejectsZeroDivisorsAndOtherShapes) {
  EXPECT_NE(ErrorOf(SparseDenseCwiseDiv(Sample(), Const(Tensor::Of<float>({1, 0, 1, 1}))))
                .find("zero divisor"),
            std::string::npos);
  EXPECT_NE(ErrorOf(SparseDenseCwiseAdd(Sample(), Const(Tensor::Of<float>({1, 2}))))
                .find("[2] does not broadcast to the sparse one [3,4]"),
            std::string::npos);
  EXPECT_NE(ErrorOf(SparseDenseCwiseAdd(Sample(), Const(Tensor::Zeros(DType::kFloat, {1, 3, 4})))),
            "");
}

TEST_F(SparseCwiseTest, SoftmaxOverTheEntriesOfARow) {
  // softmax(1) and softmax(2, 3) = 1 / (1 + e), e / (1 + e)
  const Tensor y = Run(SparseSoftmax(Sample()));
  EXPECT_FLOAT_EQ(y.data<float>()[0], 1);
  EXPECT_FLOAT_EQ(y.data<float>()[1], 0.26894143f);
  EXPECT_FLOAT_EQ(y.data<float>()[2], 0.73105860f);
  const SparseTensor vector = Sparse({3}, {1}, Tensor::Of<float>({1}));
  EXPECT_NE(ErrorOf(SparseSoftmax(vector)), "");
}

}  // namespace
}  // namespace sextant
