#include "sextant/ops/random/multinomial.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

TEST(MultinomialTest, DrawsAsTensorFlow) {
  Graph graph;
  const GraphScope scope(graph);
  const Output logits = Const(Tensor::Of<float>({2, 3}, {.1f, .5f, -1, 3, 0, 0}));
  const Output x = Multinomial(logits, Const(Tensor(9)), {.seed = 1});
  Session session(graph);
  EXPECT_TRUE(session.Run(x).Identical(
      Tensor::Of<int64_t>({2, 9}, {2, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1})));
}

TEST(MultinomialTest, ARowWithoutFiniteLogitsGivesTheNumberOfClasses) {
  Graph graph;
  const GraphScope scope(graph);
  const Output logits = Const(Tensor::Of<float>({1, 2}, {-INFINITY, NAN}));
  const Output x =
      StatelessMultinomial(logits, Const(Tensor(2)), Const(Tensor::Of<int64_t>({1, 2})));
  Session session(graph);
  EXPECT_TRUE(session.Run(x).Identical(Tensor::Of<int64_t>({1, 2}, {2, 2})));
}

TEST(MultinomialTest, RejectsLogitsWithoutClasses) {
  Graph graph;
  const GraphScope scope(graph);
  const Output logits = Const(Tensor::Zeros(DType::kFloat, {2, 0}));
  Session session(graph);
  EXPECT_THROW(session.Run(Multinomial(logits, Const(Tensor(3)))), Error);
}

}  // namespace
}  // namespace sextant
