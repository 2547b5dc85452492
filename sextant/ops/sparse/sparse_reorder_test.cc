#include "sextant/ops/sparse/sparse_reorder.h"

#include "sextant/ops/sparse/sparse_test.h"

namespace sextant {
namespace {

class SparseReorderTest : public SparseTest {};

TEST_F(SparseReorderTest, SortsEntriesAndKeepsTheOrderOfEqualOnes) {
  const SparseTensor x =
      Sparse({4, 4}, {2, 3, 0, 1, 2, 3, 2, 0}, Tensor::Of<std::string>({"a", "b", "c", "d"}));
  Expect(SparseReorder(x), {4, 4}, {0, 1, 2, 0, 2, 3, 2, 3},
         Tensor::Of<std::string>({"b", "d", "a", "c"}));
  Expect(SparseReorder(Sample()), {3, 4}, {0, 1, 2, 0, 2, 3}, Tensor::Of<float>({1, 2, 3}));
}

TEST_F(SparseReorderTest, ReshapesInRowMajorOrder) {
  Expect(SparseReshape(Sample(), {-1, 2, 1}), {6, 2, 1}, {0, 1, 0, 4, 0, 0, 5, 1, 0},
         Tensor::Of<float>({1, 2, 3}));
  const SparseTensor one = Sparse({1, 1}, {0, 0}, Tensor::Of<float>({1}));
  Expect(SparseReshape(one, std::vector<int64_t>{}), {}, {}, Tensor::Of<float>({1}));
}

TEST_F(SparseReorderTest, RejectsShapesOfAnotherSize) {
  const auto error = [&](const IndexArg& shape) {
    return ErrorOf(SparseReshape(Sample(), shape).indices);
  };
  EXPECT_NE(error({5, -1}).find("cannot reshape [3,4] (12 elements) to [5,-1]"), std::string::npos);
  EXPECT_NE(error({3, 3}), "");
  EXPECT_NE(error({-1, -1}).find("only one size may be -1"), std::string::npos);
  EXPECT_NE(error({-2, 6}), "");
  EXPECT_NE(error({0, -1}), "");
}

}  // namespace
}  // namespace sextant
