#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/pseudo_random.h"

namespace sextant {
namespace {

struct SumOutcome {
  Tensor value;
  int sums = 0;
};

// The sum of three products of a (rows x depth, or transposed) and b (depth x cols).
SumOutcome RunSum(const Shape& a, const Shape& b, bool turn_a, bool turn_b, bool fuse) {
  Graph graph;
  const GraphScope use(graph);
  std::vector<Output> products;
  FeedMap feeds;
  for (uint32_t i = 0; i < 3; ++i) {
    const Output left = Placeholder(DType::kFloat), right = Placeholder(DType::kFloat);
    products.push_back(MatMul(left, right, {.transpose_a = turn_a, .transpose_b = turn_b}));
    feeds.emplace_back(left, PseudoRandom(a, 2 * i));
    feeds.emplace_back(right, PseudoRandom(b, 2 * i + 1));
  }
  const Output sum = AddN(products);
  Session session(graph, {.optimizer = {.fuse_products = fuse}});
  StepTrace trace;
  SumOutcome outcome{.value = session.Run(feeds, sum, {.trace = &trace})};
  for (const auto& event : trace.events()) outcome.sums += event.op == "_ProductSum";
  return outcome;
}

TEST(ProductSumTest, GivesTheBitsOfAddingUpProducts) {
  for (const bool turn_a : {false, true}) {
    const Shape a = turn_a ? Shape{64, 70} : Shape{70, 64};
    const SumOutcome fused = RunSum(a, {64, 37}, turn_a, false, true);
    const SumOutcome plain = RunSum(a, {64, 37}, turn_a, false, false);
    EXPECT_EQ(fused.sums, 1);
    EXPECT_EQ(plain.sums, 0);
    EXPECT_TRUE(fused.value.Identical(plain.value));
  }
}

TEST(ProductSumTest, LeavesProductsThatAreNotComputedInPlace) {
  EXPECT_EQ(RunSum({70, 64}, {37, 64}, false, true, true).sums, 0);
  EXPECT_EQ(RunSum({3, 64}, {64, 37}, false, false, true).sums, 0);
  EXPECT_EQ(RunSum({600, 600}, {600, 600}, false, false, true).sums, 0);
}

TEST(ProductSumTest, AddsProductsOfAnySize) {
  Graph graph;
  const GraphScope use(graph);
  const Output a = Const(Tensor::Of<float>({1, 2}, {1, 2})),
               b = Const(Tensor::Of<float>({2, 1}, {3, 4}));
  const Output sum =
      OpBuilder("_ProductSum").Input(std::vector{a, a}).Input(std::vector{b, b}).Build();
  Session session(graph, {.optimizer = {.fold_constants = false}});
  EXPECT_TRUE(session.Run(sum).Identical(Tensor::Of<float>({1, 1}, {22})));
}

TEST(ProductSumTest, RefusesProductsOfDifferentSizes) {
  Graph graph;
  const GraphScope use(graph);
  const Output a = Placeholder(DType::kFloat), b = Placeholder(DType::kFloat);
  const Output sum =
      OpBuilder("_ProductSum").Input(std::vector{a, b}).Input(std::vector{b, b}).Build();
  Session session(graph);
  const FeedMap feeds = {{a, PseudoRandom({2, 3}, 1)}, {b, PseudoRandom({3, 3}, 2)}};
  EXPECT_THROW(session.Run(feeds, sum), Error);
}

}  // namespace
}  // namespace sextant
