#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

using FoldPaddingTest = PassTest;

TEST_F(FoldPaddingTest, ThePadOfAnImageBecomesPaddingOfTheConvolution) {
  const Output x = Feed({2, 6, 7, 3}), filter = Feed({3, 3, 3, 4});
  Copy({Conv2D(Pad(x, {{0, 0}, {1, 2}, {0, 1}, {0, 0}}), filter)});
  Apply(FoldPadding, 1e-6);
  EXPECT_EQ(Before("Pad"), 1);
  EXPECT_EQ(After("Pad"), 0);
  EXPECT_EQ(After("Conv2D"), 1);
}

TEST_F(FoldPaddingTest, WhatASliceCutsOffTheGradientIsNotComputed) {
  const Output filter = Feed({3, 3, 3, 4}), dy = Feed({2, 6, 6, 4});
  const Output full = Conv2DBackpropInput({2, 8, 8, 3}, filter, dy);
  Copy({Slice(full, {0, 1, 1, 0}, {2, 6, 6, 3})});
  Apply(FoldPadding, 1e-6);
  EXPECT_EQ(Before("Slice"), 1);
  EXPECT_EQ(After("Slice"), 0);
}

TEST_F(FoldPaddingTest, TheGradientOfAPaddedConvolutionNeedsNoSlice) {
  const Output x = Feed({2, 6, 6, 3}), filter = Feed({3, 3, 3, 4}), dy = Feed({2, 6, 6, 4});
  const Output y = Conv2D(Pad(x, {{0, 0}, {1, 1}, {1, 1}, {0, 0}}), filter);
  const Output full = Conv2DBackpropInput({2, 8, 8, 3}, filter, dy);
  Copy({y, Slice(full, {0, 1, 1, 0}, {2, 6, 6, 3})});
  Apply(FoldPadding, 1e-6);
  EXPECT_EQ(After("Slice"), 0);
  EXPECT_EQ(After("Pad"), 0);
}

TEST_F(FoldPaddingTest, PaddingOfChannelsOrBatchStays) {
  const Output x = Feed({2, 6, 7, 2}), filter = Feed({3, 3, 3, 4});
  Copy({Conv2D(Pad(x, {{0, 0}, {1, 1}, {1, 1}, {0, 1}}), filter)});
  Apply(FoldPadding);
  EXPECT_EQ(After("Pad"), 1);
}

}  // namespace
}  // namespace sextant
