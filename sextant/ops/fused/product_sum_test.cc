#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

Tensor Numbers(const Shape& shape, uint32_t seed) {
  Tensor t(DType::kFloat, shape);
  uint32_t state = seed * 2654435761u + 1;
  for (float& value : t.flat<float>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 4194304.0f - 2.0f;
  }
  return t;
}

struct Outcome {
  Tensor value;
  int sums = 0;
};

// The sum of three products of a (rows x depth, or transposed) and b (depth x cols).
Outcome RunSum(const Shape& a, const Shape& b, bool turn_a, bool turn_b, bool fuse) {
  Graph graph;
  const GraphScope use(graph);
  std::vector<Output> products;
  FeedMap feeds;
  for (uint32_t i = 0; i < 3; ++i) {
    const Output left = Placeholder(DType::kFloat), right = Placeholder(DType::kFloat);
    products.push_back(MatMul(left, right, {.transpose_a = turn_a, .transpose_b = turn_b}));
    feeds.emplace_back(left, Numbers(a, 2 * i));
    feeds.emplace_back(right, Numbers(b, 2 * i + 1));
  }
  const Output sum = AddN(products);
  Session session(graph, {.optimizer = {.fuse_products = fuse}});
  StepTrace trace;
  Outcome outcome{.value = session.Run(feeds, sum, {.trace = &trace})};
  for (const auto& event : trace.events()) outcome.sums += event.op == "_ProductSum";
  return outcome;
}

TEST(ProductSumTest, GivesTheBitsOfAddingUpProducts) {
  for (const bool turn_a : {false, true}) {
    const Shape a = turn_a ? Shape{64, 70} : Shape{70, 64};
    const Outcome fused = RunSum(a, {64, 37}, turn_a, false, true);
    const Outcome plain = RunSum(a, {64, 37}, turn_a, false, false);
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
  const FeedMap feeds = {{a, Numbers({2, 3}, 1)}, {b, Numbers({3, 3}, 2)}};
  EXPECT_THROW(session.Run(feeds, sum), Error);
}

}  // namespace
}  // namespace sextant
