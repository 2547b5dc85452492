// Products of rows gathered of small tables: the passes of runtime/passes/factor_products.h.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/array/unique.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/segment.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/ops/state/variable_slices.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/pseudo_random.h"

namespace sextant {
namespace {

constexpr int64_t kRows = 24, kUnits = 20, kSteps = 3;

Tensor SmallNumbers(const Shape& shape, uint32_t seed) {
  return PseudoRandom(shape, seed, -0.5f, 0.5f);
}

Tensor Ids(int64_t limit, int32_t seed) {
  Tensor t(DType::kInt32, {kRows});
  for (int32_t i = 0; i < kRows; ++i) t.data<int32_t>()[i] = (i * 7 + seed * 3) % limit;
  return t;
}

void ExpectClose(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.shape(), want.shape());
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    const float expected = want.flat<float>()[i];
    EXPECT_NEAR(got.flat<float>()[i], expected, 1e-5f + 1e-5f * std::abs(expected)) << i;
  }
}

struct FactoredOutcome {
  std::vector<Tensor> values;
  std::map<std::string, int> ops;
};

FactoredOutcome RunWith(bool factor, Graph& graph, const FeedMap& feeds,
                        const std::vector<Output>& fetches) {
  Session session(graph, {.optimizer = {.fuse_products = factor}});
  session.Run(GlobalVariablesInitializer());
  StepTrace trace;
  FactoredOutcome outcome{.values = session.Run(feeds, fetches, {}, {.trace = &trace})};
  for (const auto& event : trace.events()) ++outcome.ops[event.op];
  return outcome;
}

// A recurrent net that reads symbols, unrolled.
class FactoredProductsTest : public ::testing::Test {
 protected:
  void Build(int64_t symbols) {
    table_.emplace("table", SmallNumbers({symbols, kUnits}, 1));
    weights_.emplace("weights", SmallNumbers({2 * kUnits, kUnits}, 2));
    Output state = Const(SmallNumbers({kRows, kUnits}, 3));
    for (int32_t i = 0; i < kSteps; ++i) {
      ids_.push_back(Placeholder(DType::kInt32, PartialShape{kRows}));
      feeds_.emplace_back(ids_.back(), Ids(symbols, i));
      gathered_.push_back(ResourceGather(table_->handle(), ids_.back()));
      state = Tanh(MatMul(Concat({gathered_.back(), state}, 1), *weights_));
    }
    loss_ = Sum(Square(state), {0, 1});
  }

  // The loss, the gradient of the weights, and that of the table with every row once.
  std::vector<Output> LossAndGradients() {
    const auto gradients = Gradients(loss_, {weights_->handle(), table_->handle()});
    const IndexedSlices slices = gradients[1].slices();
    const UniqueOutputs rows = Unique(slices.indices);
    return {loss_, gradients[0].dense(), rows.y,
            UnsortedSegmentSum(slices.values, rows.index, Squeeze(ShapeOf(rows.y)))};
  }

  Graph graph_;
  GraphScope use_{graph_};
  std::optional<Variable> table_, weights_;
  std::vector<Output> ids_, gathered_;
  FeedMap feeds_;
  Output loss_;
};

TEST_F(FactoredProductsTest, LossAndGradientsAreThoseOfTheGraphAsItIs) {
  Build(7);
  const std::vector<Output> fetches = LossAndGradients();
  const FactoredOutcome factored = RunWith(true, graph_, feeds_, fetches);
  const FactoredOutcome plain = RunWith(false, graph_, feeds_, fetches);
  EXPECT_EQ(plain.ops.at("ResourceGather"), kSteps);
  EXPECT_FALSE(factored.ops.contains("ResourceGather"));
  // Nothing of the table is left in the unrolled products.
  EXPECT_EQ(factored.ops.at("GatherV2"), kSteps);
  EXPECT_FALSE(factored.ops.contains("SplitV"));
  EXPECT_TRUE(factored.values[2].Identical(plain.values[2]));
  for (const int i : {0, 1, 3}) ExpectClose(factored.values[i], plain.values[i]);
}

TEST_F(FactoredProductsTest, OtherReadersStillGetTheRows) {
  Build(7);
  std::vector<Output> fetches = LossAndGradients();
  fetches.insert(fetches.end(), gathered_.begin(), gathered_.end());
  const FactoredOutcome factored = RunWith(true, graph_, feeds_, fetches);
  const FactoredOutcome plain = RunWith(false, graph_, feeds_, fetches);
  for (size_t i = 4; i < fetches.size(); ++i) {
    EXPECT_TRUE(factored.values[i].Identical(plain.values[i]));
  }
  ExpectClose(factored.values[1], plain.values[1]);
}

TEST_F(FactoredProductsTest, LargeTablesAreNotMultiplied) {
  Build(kRows * kSteps);
  const std::vector<Output> fetches = LossAndGradients();
  const FactoredOutcome factored = RunWith(true, graph_, feeds_, fetches);
  EXPECT_EQ(factored.ops.at("ResourceGather"), kSteps);
  ExpectClose(factored.values[3], RunWith(false, graph_, feeds_, fetches).values[3]);
}

TEST_F(FactoredProductsTest, ATableThatChangesBetweenGathersIsNotShared) {
  table_.emplace("table", SmallNumbers({5, kUnits}, 1));
  weights_.emplace("weights", SmallNumbers({kUnits, kUnits}, 2));
  const Output ids = Const(Ids(5, 0));
  const Output before = MatMul(ResourceGather(table_->handle(), ids), *weights_);
  // Ordered by what they compute from.
  const Output changed = table_->AssignAdd(Ones({5, kUnits}) + 0.0f * Sum(before, {0, 1}));
  const Output same_ids = ids + Cast(0.0f * Sum(changed, {0, 1}), DType::kInt32);
  const Output later = MatMul(ResourceGather(table_->handle(), same_ids), *weights_);
  const std::vector<Output> fetches = {before, later};
  const FactoredOutcome factored = RunWith(true, graph_, {}, fetches);
  const FactoredOutcome plain = RunWith(false, graph_, {}, fetches);
  for (const int i : {0, 1}) ExpectClose(factored.values[i], plain.values[i]);
  EXPECT_GT(std::abs(plain.values[1].flat<float>()[0] - plain.values[0].flat<float>()[0]), 1e-3f);
}

TEST_F(FactoredProductsTest, SegmentSumsOfProductsWithFewSegments) {
  const Output a = Placeholder(DType::kFloat, PartialShape{kRows, kUnits}),
               b = Placeholder(DType::kFloat, PartialShape{2 * kUnits, kUnits});
  const Output product = MatMul(a, b, {.transpose_b = true});
  const Output part = Slice(product, {0, kUnits}, {kRows, kUnits});
  const std::vector<Output> fetches = {UnsortedSegmentSum(part, Const(Ids(5, 1)), 5)};
  const FeedMap feeds = {{a, SmallNumbers({kRows, kUnits}, 4)},
                         {b, SmallNumbers({2 * kUnits, kUnits}, 5)}};
  const FactoredOutcome factored = RunWith(true, graph_, feeds, fetches);
  ExpectClose(factored.values[0], RunWith(false, graph_, feeds, fetches).values[0]);
}

TEST_F(FactoredProductsTest, IdsOutsideOfTheTableAreRefused) {
  Build(7);
  for (const int32_t bad : {-1, 7}) {
    feeds_[1].second.data<int32_t>()[5] = bad;
    EXPECT_THROW(RunWith(true, graph_, feeds_, LossAndGradients()), Error);
  }
}

}  // namespace
}  // namespace sextant
