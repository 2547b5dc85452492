#include "sextant/ops/sparse/sparse_add.h"

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseAddTest : public SparseTest {
 protected:
  SparseTensor Sum(Ints indices, const Tensor& values, float threshold) {
    return SparseAdd(Sample(), Sparse({3, 4}, indices, values), Const(Tensor(threshold)));
  }
};

TEST_F(SparseAddTest, MergesEntries) {
  Expect(Sum({0, 1, 1, 1, 2, 0}, Tensor::Of<float>({5, 6, -2}), 0), {3, 4},
         {0, 1, 1, 1, 2, 0, 2, 3}, Tensor::Of<float>({6, 6, 0, 3}));
}

TEST_F(SparseAddTest, OnlySumsAreHeldAgainstTheThreshold) {
  Expect(Sum({1, 1, 2, 0}, Tensor::Of<float>({0.25f, -2}), 0.5f), {3, 4}, {0, 1, 1, 1, 2, 3},
         Tensor::Of<float>({1, 0.25f, 3}));
}

TEST_F(SparseAddTest, GradientIsThatOfTheSumOrZero) {
  const std::vector<Output> grads = OpBuilder("SparseAddGrad")
                                        .Input(Const(Tensor::Of<float>({10, 20})))
                                        .Input(Sample().indices)
                                        .Input(Const(Tensor::Of<int64_t>({2, 2}, {0, 1, 1, 1})))
                                        .Input(Const(Tensor::Of<int64_t>({2, 2}, {0, 1, 2, 3})))
                                        .BuildAll();
  EXPECT_TRUE(Run(grads[0]).Identical(Tensor::Of<float>({10, 0, 20})));
  EXPECT_TRUE(Run(grads[1]).Identical(Tensor::Of<float>({10, 0})));
}

TEST_F(SparseAddTest, AddsToADenseTensor) {
  const SparseTensor x = Sparse({3}, {1, 1}, Tensor::Of<int8_t>({100, 100}));
  EXPECT_TRUE(Run(SparseTensorDenseAdd(x, Const(Tensor::Of<int8_t>({1, 2, 3}))))
                  .Identical(Tensor::Of<int8_t>({1, -54, 3})));
}

TEST_F(SparseAddTest, RejectsOtherShapes) {
  const SparseTensor other = Sparse({3, 5}, {0, 4}, Tensor::Of<float>({1}));
  EXPECT_NE(ErrorOf(SparseAdd(Sample(), other, Const(Tensor(0.0f))).values)
                .find("different shapes: [3,4] and [3,5]"),
            std::string::npos);
  const Output dense = Const(Tensor::Zeros(DType::kFloat, {3, 4}));
  EXPECT_NE(ErrorOf(SparseTensorDenseAdd(other, dense)), "");
  const SparseTensor outside = Sparse({3, 4}, {0, 4}, Tensor::Of<float>({1}));
  EXPECT_NE(ErrorOf(SparseTensorDenseAdd(outside, dense)).find("out of bounds"), std::string::npos);
}

}  // namespace
}  // namespace sextant
