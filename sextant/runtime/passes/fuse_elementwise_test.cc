#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

using FuseElementwiseTest = PassTest;

TEST_F(FuseElementwiseTest, ATreeOfOpsBecomesOneNode) {
  const Output x = Feed({5, 7}), y = Feed({5, 7}), bias = Feed({7});
  Copy({Tanh(x * y + Square(x - bias))});
  Apply(FuseElementwise);
  EXPECT_EQ(Before("Tanh"), 1);
  EXPECT_EQ(After("Tanh") + After("Mul") + After("AddV2") + After("Square") + After("Sub"), 0);
  EXPECT_EQ(After("_Elementwise"), 1);
}

TEST_F(FuseElementwiseTest, ValuesThatOthersReadAreStillMade) {
  const Output x = Feed({5, 7});
  const Output inner = Exp(x * 0.5);
  Copy({Sqrt(inner + 1.0), MatMul(inner, inner, {.transpose_b = true})});
  Apply(FuseElementwise);
  EXPECT_EQ(After("_Elementwise"), 2);
}

TEST_F(FuseElementwiseTest, OtherTypesAndUnknownShapesStay) {
  const Output n = Cast(Feed({5, 7}), DType::kInt32);
  Copy({Square(n + n)});
  Apply(FuseElementwise);
  EXPECT_EQ(After("_Elementwise"), 0);
}

}  // namespace
}  // namespace sextant
