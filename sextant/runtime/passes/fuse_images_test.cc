#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

using FuseImagesTest = PassTest;

TEST_F(FuseImagesTest, BiasAdditionAndReluJoinTheConvolution) {
  const Output x = Feed({2, 8, 9, 16}), filter = Feed({3, 3, 16, 16});
  const Output y = BiasAdd(Conv2D(x, filter, {.padding = "SAME"}), Feed({16}));
  const Output z = Conv2D(Relu(y), Feed({1, 1, 16, 16}), {.padding = "SAME"});
  Copy({Relu(z + y), z});
  Apply(BlockImages, 2e-5);
  Apply(FuseImages, 2e-5);
  EXPECT_GE(Before("AddV2") + Before("Add"), 1);
  EXPECT_LT(After("AddV2") + After("Add"), Before("AddV2") + Before("Add"));
  EXPECT_EQ(After("_BlockedConv2D"), 2);
}

TEST_F(FuseImagesTest, AReluThatIsTheOnlyReaderGoes) {
  const Output x = Feed({2, 8, 9, 16}), filter = Feed({3, 3, 16, 16});
  Copy({Relu(Conv2D(x, filter, {.padding = "SAME"}))});
  Apply(BlockImages, 2e-5);
  Apply(FuseImages, 2e-5);
  EXPECT_EQ(Before("Relu"), 1);
  EXPECT_EQ(After("Relu"), 0);
}

TEST_F(FuseImagesTest, WhatOthersReadStays) {
  const Output x = Feed({2, 8, 9, 16}), filter = Feed({3, 3, 16, 16});
  const Output y = Conv2D(x, filter, {.padding = "SAME"});
  Copy({Relu(y), y});
  Apply(BlockImages, 2e-5);
  Apply(FuseImages);
  EXPECT_EQ(After("Relu"), 1);
}

}  // namespace
}  // namespace sextant
