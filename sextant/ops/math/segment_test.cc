#include "sextant/ops/math/segment.h"

#include <gtest/gtest.h>

#include <limits>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/sparse_segment.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class SegmentTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  std::vector<Tensor> RunAll(const std::vector<Output>& ys) { return Session(graph_).Run(ys); }
  void ExpectError(Output y, const std::string& text) {
    try {
      Run(y);
      FAIL() << "expected: " << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      EXPECT_NE(e.message().find(text), std::string::npos) << e.message();
    }
  }
  static Output Ids(std::initializer_list<int32_t> ids) { return Const(Tensor::Of<int32_t>(ids)); }

  Graph graph_;
  GraphScope scope_{graph_};
  Output data_ = Const(Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
};

// Values of TensorFlow 2.15.
TEST_F(SegmentTest, SortedWithGaps) {
  const Output ids = Ids({1, 1, 3});
  EXPECT_TRUE(
      Run(SegmentSum(data_, ids)).Identical(Tensor::Of<float>({4, 2}, {0, 0, 4, 6, 0, 0, 5, 6})));
  EXPECT_TRUE(
      Run(SegmentMean(data_, ids)).Identical(Tensor::Of<float>({4, 2}, {0, 0, 2, 3, 0, 0, 5, 6})));
  EXPECT_TRUE(
      Run(SegmentMax(data_, ids)).Identical(Tensor::Of<float>({4, 2}, {0, 0, 3, 4, 0, 0, 5, 6})));
  EXPECT_TRUE(
      Run(SegmentProd(data_, ids)).Identical(Tensor::Of<float>({4, 2}, {1, 1, 3, 8, 1, 1, 5, 6})));
}

TEST_F(SegmentTest, UnsortedLeavesOutNegativeIds) {
  const float lowest = std::numeric_limits<float>::lowest();
  const Output ids = Ids({2, -1, 0});
  EXPECT_TRUE(Run(UnsortedSegmentSum(data_, ids, 3))
                  .Identical(Tensor::Of<float>({3, 2}, {5, 6, 0, 0, 1, 2})));
  EXPECT_TRUE(Run(UnsortedSegmentMax(data_, ids, 3))
                  .Identical(Tensor::Of<float>({3, 2}, {5, 6, lowest, lowest, 1, 2})));
}

TEST_F(SegmentTest, IdsOfNothingSayNothing) {
  const Output none = Const(Tensor::Zeros(DType::kFloat, {2, 0}));
  EXPECT_EQ(Run(UnsortedSegmentMax(none, Ids({7, 9}), 3)).shape(), Shape({3, 0}));
  const Output number = Const(Tensor(int32_t{5}));
  const Output hidden = Placeholder(DType::kFloat, PartialShape());
  const Output sum = UnsortedSegmentSum(hidden, number, 1);
  EXPECT_EQ(Session(graph_).Run({{hidden, Tensor::Zeros(DType::kFloat, {0})}}, sum).shape(),
            Shape({1, 0}));
}

TEST_F(SegmentTest, SparsePicksRows) {
  const Output indices = Ids({0, 1, 1}), ids = Ids({1, 1, 3});
  EXPECT_TRUE(Run(SparseSegmentMean(data_, indices, ids))
                  .Identical(Tensor::Of<float>({4, 2}, {0, 0, 2, 3, 0, 0, 3, 4})));
  EXPECT_EQ(Run(SparseSegmentSum(data_, indices, ids, {.num_segments = 6})).shape(), (Shape{6, 2}));
}

TEST_F(SegmentTest, SparseGradients) {
  const auto build = [&](const char* op) {
    return OpBuilder(op)
        .Input(Const(Tensor::Of<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})))
        .Input(Ids({0, 4, 1, 4}))
        .Input(Ids({0, 0, 1, 3}))
        .Input(Const(6))
        .BuildAll();
  };
  EXPECT_TRUE(Run(build("SparseSegmentMeanGrad")[0])
                  .Identical(Tensor::Of<float>({6, 2}, {0.5, 1, 3, 4, 0, 0, 0, 0, 7.5, 9, 0, 0})));
  const std::vector<Tensor> slices = RunAll(build("SparseSegmentSumGradV2"));
  EXPECT_TRUE(slices[0].Identical(Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 8, 10})));
  EXPECT_TRUE(slices[1].Identical(Tensor::Of<int32_t>({0, 1, 4})));
}

TEST_F(SegmentTest, RefusesBadIds) {
  ExpectError(SegmentSum(data_, Ids({1, 0, 3})), "segment ids are not increasing");
  ExpectError(SegmentSum(data_, Ids({-1, 0, 3})), "segment_ids[0] = -1");
  ExpectError(SegmentSum(data_, Ids({0, 1})), "same size as dimension 0");
  ExpectError(UnsortedSegmentSum(data_, Ids({3, 0, 0}), 2),
              "segment_ids[0] = 3 is out of range [0, 2)");
  ExpectError(SparseSegmentSum(data_, Ids({0, 3}), Ids({0, 0})),
              "indices[1] == 3 out of range [0, 3)");
  ExpectError(SparseSegmentSum(data_, Ids({0, 1}), Ids({0, 3}), {.num_segments = 2}),
              "num_segments");
}

}  // namespace
}  // namespace sextant
