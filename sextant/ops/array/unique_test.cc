#include "sextant/ops/array/unique.h"

#include <limits>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/partition.h"
#include "sextant/ops/array/reverse.h"
#include "sextant/ops/array/search_sorted.h"
#include "sextant/ops/array/top_k.h"
#include "sextant/ops/array/where.h"

namespace sextant {
namespace {

using UniqueTest = ArrayTest;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST_F(UniqueTest, KeepsTheOrderOfFirstOccurrence) {
  const auto out = UniqueWithCounts(Const(Tensor::Of<std::string>({"b", "a", "b"})));
  ExpectTensor<std::string>(Run(out.y), {2}, {"b", "a"});
  ExpectTensor<int32_t>(Run(out.index), {3}, {0, 1, 0});
  ExpectTensor<int32_t>(Run(out.count), {2}, {2, 1});
}

TEST_F(UniqueTest, NanDiffersFromItselfAndZerosAreEqual) {
  const auto out = Unique(Const(Tensor::Of<float>({1, kNan, kNan, 0.0f, -0.0f})));
  ExpectTensor<int32_t>(Run(out.index), {5}, {0, 1, 2, 3, 3});
}

TEST_F(UniqueTest, IntegersMayLieCloseOrFarApart) {
  const auto close = UniqueWithCounts(Const(Tensor::Of<int64_t>({-3, 900, -3, 7, 900})));
  ExpectTensor<int64_t>(Run(close.y), {3}, {-3, 900, 7});
  ExpectTensor<int32_t>(Run(close.index), {5}, {0, 1, 0, 2, 1});
  ExpectTensor<int32_t>(Run(close.count), {3}, {2, 2, 1});
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto far = Unique(Const(Tensor::Of<int64_t>({kMost, kLeast, 0, kMost})));
  ExpectTensor<int64_t>(Run(far.y), {3}, {kMost, kLeast, 0});
  ExpectTensor<int32_t>(Run(far.index), {4}, {0, 1, 2, 0});
  const auto bytes = Unique(Const(Tensor::Of<int8_t>({127, -128, 127})));
  ExpectTensor<int8_t>(Run(bytes.y), {2}, {127, -128});
  const auto none = Unique(Const(Tensor(DType::kInt64, {0})));
  ExpectTensor<int64_t>(Run(none.y), {0}, {});
}

TEST_F(UniqueTest, DistinctColumns) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{2, 3}, {1, 2, 1, 3, 4, 3}));
  const auto out = OpBuilder("UniqueV2").Input(x).Input(ConstInts({1}, DType::kInt64)).BuildAll();
  ExpectTensor<int32_t>(Run(out[0]), {2, 2}, {1, 2, 3, 4});
  ExpectTensor<int32_t>(Run(out[1]), {3}, {0, 1, 0});
}

TEST_F(UniqueTest, DifferenceOfLists) {
  const auto out = ListDiff(ConstInts({1, 2, 3, 2, 4}), ConstInts({2, 9}));
  ExpectTensor<int32_t>(Run(out.out), {3}, {1, 3, 4});
  ExpectTensor<int32_t>(Run(out.index), {3}, {0, 2, 4});
}

TEST_F(UniqueTest, WhereGivesPositions) {
  const Output x = Const(Tensor::Of<float>(Shape{2, 2}, {0, 1.5f, -0.0f, kNan}));
  ExpectTensor<int64_t>(Run(Where(x)), {2, 2}, {0, 1, 1, 1});
  EXPECT_EQ(Where(x).shape().ToString(), "[?,2]");
}

TEST_F(UniqueTest, TopKPrefersTheFirstOfEqualOnes) {
  const auto out = TopK(Const(Tensor::Of<int32_t>(Shape{2, 4}, {5, 1, 5, 5, 2, 2, 2, 1})), 3);
  ExpectTensor<int32_t>(Run(out.values), {2, 3}, {5, 5, 5, 2, 2, 2});
  ExpectTensor<int32_t>(Run(out.indices), {2, 3}, {0, 2, 3, 0, 1, 2});
  const Output k = Hidden(Tensor(int32_t{9}));
  EXPECT_NE(ErrorOf(TopK(Const(Tensor::Of<float>({1, 2})), k).values).find("at least k columns"),
            std::string::npos);
}

TEST_F(UniqueTest, TopKPutsNanLast) {
  const auto out = TopK(Const(Tensor::Of<float>({kNan, 1, kNan, 3})), 3);
  ExpectTensor<int32_t>(Run(out.indices), {3}, {3, 1, 0});
}

TEST_F(UniqueTest, ReversesAndRolls) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6}));
  ExpectTensor<int32_t>(Run(Reverse(x, {1})), {2, 3}, {3, 2, 1, 6, 5, 4});
  ExpectTensor<int32_t>(Run(Roll(x, {1, -1}, {0, 1})), {2, 3}, {5, 6, 4, 2, 3, 1});
  ExpectTensor<int32_t>(Run(ReverseSequence(x, ConstInts({2, 3}))), {2, 3}, {2, 1, 3, 6, 5, 4});
  EXPECT_NE(ErrorOf(ReverseSequence(x, ConstInts({2, 4}))).find("INVALID_ARGUMENT"),
            std::string::npos);
}

// As TensorFlow, where the axes are known too late to be refused.
TEST_F(UniqueTest, AScalarIsItsReverse) {
  ExpectTensor<int32_t>(Run(Reverse(Const(Tensor(int32_t{7})), Hidden(Tensor::Of<int32_t>({5})))),
                        {}, {7});
}

TEST_F(UniqueTest, PartitionAndStitchAreInverse) {
  const Output x = Const(Tensor::Of<int32_t>({10, 11, 12, 13}));
  const Output partitions = ConstInts({1, 0, 1, 1});
  const auto parts = DynamicPartition(x, partitions, 3);
  ExpectTensor<int32_t>(Run(parts[1]), {3}, {10, 12, 13});
  ExpectTensor<int32_t>(Run(parts[2]), {0}, {});
  const auto positions = DynamicPartition(ConstInts({0, 1, 2, 3}), partitions, 3);
  ExpectTensor<int32_t>(Run(DynamicStitch(positions, parts)), {4}, {10, 11, 12, 13});
  ExpectTensor<int32_t>(Run(DynamicStitch({ConstInts({0, 3, 0})}, {ConstInts({1, 2, 3})})), {4},
                        {3, 0, 0, 2});
  EXPECT_NE(ErrorOf(DynamicPartition(x, partitions, 1)[0]).find("partitions[0] = 1 is not in"),
            std::string::npos);
}

TEST_F(UniqueTest, BoundsInSortedRows) {
  const Output rows = Const(Tensor::Of<float>(Shape{1, 4}, {1, 2, 2, 3}));
  const Output values = Const(Tensor::Of<float>(Shape{1, 3}, {2, 0, 9}));
  ExpectTensor<int32_t>(Run(LowerBound(rows, values)), {1, 3}, {1, 0, 4});
  ExpectTensor<int32_t>(Run(UpperBound(rows, values)), {1, 3}, {3, 0, 4});
  ExpectTensor<int32_t>(Run(Bucketize(Const(Tensor::Of<float>({-1, 0, 5, kNan})), {0, 5})), {4},
                        {0, 1, 2, 2});
}

}  // namespace
}  // namespace sextant
