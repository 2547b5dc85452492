#include "sextant/ops/sparse/sparse_slice.h"

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseSliceTest : public SparseTest {};

TEST_F(SparseSliceTest, TakesABox) {
  Expect(SparseSlice(Sample(), {1, 0}, {2, 2}), {2, 2}, {1, 0}, Tensor::Of<float>({2}));
}

TEST_F(SparseSliceTest, CutsTheBoxAtTheEnd) {
  Expect(SparseSlice(Sample(), {1, 0}, {20, 20}), {2, 4}, {1, 0, 1, 3}, Tensor::Of<float>({2, 3}));
  Expect(SparseSlice(Sample(), {9, 0}, {2, 2}), {0, 2}, {}, Tensor::Of<float>({}));
}

TEST_F(SparseSliceTest, GradientGoesToTheEntriesTaken) {
  const Output grad = OpBuilder("SparseSliceGrad")
                          .Input(Const(Tensor::Of<float>({5, 6})))
                          .Input(Sample().indices)
                          .Input(Const(Tensor::Of<int64_t>({1, 0})))
                          .Input(Const(Tensor::Of<int64_t>({2, 2}, {1, 0, 1, 3})))
                          .Build();
  EXPECT_TRUE(Run(grad).Identical(Tensor::Of<float>({0, 5, 6})));
}

TEST_F(SparseSliceTest, ConcatenatesInOrder) {
  Expect(SparseConcat({Sample(), Sample()}, 1), {3, 8}, {0, 1, 0, 5, 2, 0, 2, 3, 2, 4, 2, 7},
         Tensor::Of<float>({1, 1, 2, 3, 2, 3}));
  Expect(SparseConcat({Sample(), Sample()}, -2), {6, 4}, {0, 1, 2, 0, 2, 3, 3, 1, 5, 0, 5, 3},
         Tensor::Of<float>({1, 2, 3, 1, 2, 3}));
}

TEST_F(SparseSliceTest, SplitsWithLargerPartsFirst) {
  const std::vector<SparseTensor> parts = SparseSplit(Sample(), 3, 1);
  Expect(parts[0], {3, 2}, {0, 1, 2, 0}, Tensor::Of<float>({1, 2}));
  Expect(parts[1], {3, 1}, {}, Tensor::Of<float>({}));
  Expect(parts[2], {3, 1}, {2, 0}, Tensor::Of<float>({3}));
}

TEST_F(SparseSliceTest, RejectsWhatDoesNotFit) {
  const SparseTensor other = Sparse({2, 4}, {0, 1}, Tensor::Of<float>({1}));
  EXPECT_NE(ErrorOf(SparseConcat({Sample(), other}, 1).values).find("differ in dimension 0"),
            std::string::npos);
  EXPECT_NE(ErrorOf(SparseConcat({Sample(), other}, 2).values), "");
  EXPECT_NE(ErrorOf(SparseSlice(Sample(), {0, 0}, {-1, 2}).values), "");
  EXPECT_NE(ErrorOf(SparseSplit(Sample(), 5, 1)[0].values)
                .find("cannot cut dimension 1 of size 4 into 5 parts"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
