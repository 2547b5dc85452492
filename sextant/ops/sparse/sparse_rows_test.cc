#include "sextant/ops/sparse/sparse_rows.h"

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseRowsTest : public SparseTest {
 protected:
  Output nine_ = Const(Tensor(9.0f));
};

TEST_F(SparseRowsTest, FillsRowsWithoutEntries) {
  const FilledRows filled = SparseFillEmptyRows(Sample(), nine_);
  Expect(filled.sparse, {3, 4}, {0, 1, 1, 0, 2, 0, 2, 3}, Tensor::Of<float>({1, 9, 2, 3}));
  EXPECT_TRUE(Run(filled.empty_row_indicator).Identical(Tensor::Of<bool>({false, true, false})));
  EXPECT_TRUE(Run(filled.reverse_index_map).Identical(Tensor::Of<int64_t>({0, 2, 3})));
}

TEST_F(SparseRowsTest, GroupsEntriesByRow) {
  const SparseTensor x = Sparse({4, 2}, {2, 1, 0, 0, 2, 0}, Tensor::Of<float>({1, 2, 3}));
  const FilledRows filled = SparseFillEmptyRows(x, nine_);
  Expect(filled.sparse, {4, 2}, {0, 0, 1, 0, 2, 1, 2, 0, 3, 0}, Tensor::Of<float>({2, 9, 1, 3, 9}));
  EXPECT_TRUE(Run(filled.reverse_index_map).Identical(Tensor::Of<int64_t>({2, 0, 3})));
}

TEST_F(SparseRowsTest, NoEntriesAtAll) {
  const SparseTensor x = Sparse({2, 3}, {}, Tensor::Of<float>({}));
  Expect(SparseFillEmptyRows(x, nine_).sparse, {2, 3}, {0, 0, 1, 0}, Tensor::Of<float>({9, 9}));
}

TEST_F(SparseRowsTest, GradientOfDefaultIsTheSumOverFilledPlaces) {
  const std::vector<Output> grads = OpBuilder("SparseFillEmptyRowsGrad")
                                        .Input(Const(Tensor::Of<int64_t>({2, 1})))
                                        .Input(Const(Tensor::Of<float>({1, 2, 3, 4})))
                                        .BuildAll();
  EXPECT_TRUE(Run(grads[0]).Identical(Tensor::Of<float>({3, 2})));
  EXPECT_TRUE(Run(grads[1]).Identical(Tensor(5.0f)));
}

TEST_F(SparseRowsTest, RejectsRowsOutOfRange) {
  const auto fill = [&](Ints shape, Ints index) {
    return SparseFillEmptyRows(Sparse(shape, index, Tensor::Of<float>({1})), nine_).sparse.values;
  };
  EXPECT_NE(ErrorOf(fill({3, 3}, {5, 0})).find("indices(0, 0) = 5 is not in [0, 3)"),
            std::string::npos);
  EXPECT_NE(ErrorOf(fill({3, 3}, {-1, 0})), "");
  EXPECT_NE(ErrorOf(fill({0, 3}, {0, 0})), "");
}

}  // namespace
}  // namespace sextant
