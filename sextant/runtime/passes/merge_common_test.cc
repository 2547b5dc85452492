#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

using MergeCommonTest = PassTest;

TEST_F(MergeCommonTest, EqualNodesBecomeOne) {
  const Output x = Feed({3, 4});
  Copy({Tanh(x * 2.0) + Tanh(x * 2.0), Tanh(x * 3.0)});
  Apply(MergeCommonSubexpressions);
  EXPECT_EQ(Before("Tanh"), 3);
  EXPECT_EQ(After("Tanh"), 2);
  EXPECT_EQ(Before("Mul"), 3);
  EXPECT_EQ(After("Mul"), 2);
}

TEST_F(MergeCommonTest, WhatChangesNothingGoes) {
  const Output x = Feed({3, 4});
  const Output none = Const(Tensor(DType::kInt32, Shape{0}));
  Copy({Exp(Reshape(Sum(x, none), {3, 4}))});
  Apply(MergeCommonSubexpressions);
  EXPECT_EQ(Before("Reshape") + Before("Sum"), 2);
  EXPECT_EQ(After("Reshape") + After("Sum"), 0);
}

TEST_F(MergeCommonTest, ReshapesToSizesThatAreNotKnownStay) {
  const Output x = Feed({6}), rows = Feed({2, 3});
  const Output shape = FeedValue(Tensor::Of<int32_t>({6})), size = FeedValue(Tensor(3));
  Copy({Exp(Reshape(x, shape)), Exp(Reshape(rows, Pack({Const(Tensor(2)), size})))});
  Apply(MergeCommonSubexpressions);
  EXPECT_EQ(After("Reshape"), 2);
}

TEST_F(MergeCommonTest, NodesWithEffectsOrOtherAttributesStay) {
  const Output x = Feed({3, 4});
  const Output a = RandomUniform({3, 4}, {.seed = 5}), b = RandomUniform({3, 4}, {.seed = 5});
  Copy({x + a, x + b, MatMul(x, x, {.transpose_a = true}), MatMul(x, x, {.transpose_b = true})});
  Apply(MergeCommonSubexpressions);
  EXPECT_EQ(After("RandomUniform"), 2);
  EXPECT_EQ(After("MatMul"), 2);
}

}  // namespace
}  // namespace sextant
