// Graphs of images give the same with and without the blocked layout, forward and backward.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sextant/device/cpu/onednn_conv.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/pad.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/batch_norm.h"
#include "sextant/ops/nn/conv.h"
#include "sextant/ops/nn/pool.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/pseudo_random.h"

namespace sextant {
namespace {

class BlockedGraph : public testing::Test {
 protected:
  BlockedGraph() : scope_(graph_) {}

  Output Feed(const Shape& shape) {
    const Output x = Placeholder(DType::kFloat, PartialShape(shape));
    feeds_.emplace_back(x, PseudoRandom(shape, static_cast<uint32_t>(feeds_.size()) + 1, -1, 1));
    return x;
  }
  // Runs with and without the passes and compares; returns the op types that ran with them.
  std::multiset<std::string> Compare(const std::vector<Output>& fetches, double tolerance = 2e-5) {
    SessionOptions plain;
    plain.optimizer.block_images = false;
    plain.optimizer.fuse_images = false;
    Session reference(graph_, plain), blocked(graph_, {});
    const std::vector<Tensor> expected = reference.Run(feeds_, fetches);
    StepTrace trace;
    const std::vector<Tensor> actual = blocked.Run(feeds_, fetches, {}, {.trace = &trace});
    for (size_t i = 0; i < fetches.size(); ++i) {
      EXPECT_EQ(actual[i].shape(), expected[i].shape());
      double largest = 0, difference = 0;
      for (int64_t j = 0; j < expected[i].num_elements(); ++j) {
        const double e = expected[i].data<float>()[j];
        largest = std::max(largest, std::abs(e));
        difference = std::max(difference, std::abs(actual[i].data<float>()[j] - e));
      }
      EXPECT_LE(difference, tolerance * (largest + 1e-3)) << fetches[i].name();
    }
    std::multiset<std::string> types;
    for (const StepTrace::Event& event : trace.events()) types.insert(event.op);
    return types;
  }

  Graph graph_;
  GraphScope scope_;
  std::vector<std::pair<Output, Tensor>> feeds_;
};

TEST_F(BlockedGraph, ConvolutionsOfAllKinds) {
  for (const char* format : {"NHWC", "NCHW"}) {
    for (const char* padding : {"SAME", "VALID"}) {
      for (const int64_t stride : {1, 2}) {
        for (const int64_t in : {1, 3, 16}) {
          const bool first = std::string(format) == "NCHW";
          const Output x = Feed(first ? Shape{3, in, 11, 9} : Shape{3, 11, 9, in});
          const Output filter = Feed(Shape{3, 2, in, 32});
          const std::vector<int64_t> strides = first ? std::vector<int64_t>{1, 1, stride, stride}
                                                     : std::vector<int64_t>{1, stride, stride, 1};
          const Output y =
              Conv2D(x, filter, {.strides = strides, .padding = padding, .data_format = format});
          const Output loss = Sum(y * y * y, {0, 1, 2, 3});
          const auto gradients = Gradients({loss}, {x, filter});
          const auto types = Compare({y, gradients[0].dense(), gradients[1].dense()});
          EXPECT_EQ(types.count("_BlockedConv2D"), 1);
          EXPECT_EQ(types.count("_BlockedConv2DBackpropInput"), 1);
          EXPECT_EQ(types.count("_BlockedConv2DBackpropFilter"), 1);
        }
      }
    }
  }
}

// The shapes that gradients read wait for what the gradients wait for, and are known all the same.
TEST_F(BlockedGraph, GradientsInsideControlDependencies) {
  const Output x = Feed(Shape{3, 11, 9, 16}), filter = Feed(Shape{3, 3, 16, 32});
  const Output y = Conv2D(x, filter, {.padding = "SAME"});
  const Output loss = Sum(y * y, {0, 1, 2, 3});
  const Output first = Neg(Feed(Shape{}));
  const ControlDependencies after({first});
  const auto gradients = Gradients(loss, {x, filter});
  const auto types = Compare({gradients[0].dense(), gradients[1].dense()});
  EXPECT_EQ(types.count("_BlockedConv2DBackpropInput"), 1);
  EXPECT_EQ(types.count("_BlockedConv2DBackpropFilter"), 1);
}

TEST_F(BlockedGraph, TrainsAResidualUnitWithoutReordersInside) {
  const Output x = Feed(Shape{4, 8, 8, 3});
  const Output first = Feed(Shape{3, 3, 3, 16}), second = Feed(Shape{3, 3, 16, 32}),
               third = Feed(Shape{3, 3, 32, 32});
  const Output scale = Feed(Shape{32}), offset = Feed(Shape{32});
  const Output none = Const(Tensor(DType::kFloat, Shape{0}));
  const Output a = Relu(Conv2D(x, first, {.padding = "SAME"}));
  const Output padded = Pad(a, {{0, 0}, {1, 1}, {1, 1}, {0, 0}});
  Output y = Conv2D(padded, second, {.strides = {1, 2, 2, 1}, .padding = "VALID"});
  y = Relu(FusedBatchNorm(y, scale, offset, none, none, {.epsilon = 1e-3f}).y);
  const FusedBatchNormResult norm = FusedBatchNorm(Conv2D(y, third, {.padding = "SAME"}), scale,
                                                   offset, none, none, {.epsilon = 1e-3f});
  Output shortcut = AvgPool(a, {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"});
  shortcut = Pad(shortcut, {{0, 0}, {0, 0}, {0, 0}, {5, 11}});
  const Output out = Relu(norm.y + shortcut);
  const Output loss = Sum(Square(Mean(out, {1, 2})), {0, 1});
  std::vector<Output> fetches = {out, loss, norm.batch_mean, norm.batch_variance};
  for (const Gradient& g : Gradients({loss}, {first, second, third, scale, offset}))
    fetches.push_back(g.dense());
  const auto types = Compare(fetches, 2e-4);
  EXPECT_EQ(types.count("_ToBlocked"), 0);
  EXPECT_EQ(types.count("_FromBlocked"), 1);  // what is fetched
  EXPECT_EQ(types.count("_BlockedConv2D"), 3);
  EXPECT_EQ(types.count("_BlockedBatchNorm"), 2);
  EXPECT_EQ(types.count("_BlockedBatchNormGrad"), 2);
  EXPECT_EQ(types.count("Relu"), 0);
  EXPECT_EQ(types.count("Pad"), 0);
}

TEST_F(BlockedGraph, FoldsNormalizationBiasAdditionAndReluForInference) {
  const Output x = Feed(Shape{2, 9, 7, 16}), filter = Feed(Shape{3, 3, 16, 16}),
               bias = Feed(Shape{16});
  const Output scale = Feed(Shape{16}), offset = Feed(Shape{16}), mean = Feed(Shape{16});
  const Output variance = Square(Feed(Shape{16})) + 0.5f;
  const Output a = Relu(BiasAdd(Conv2D(x, filter, {.padding = "SAME"}), bias));
  const Output normal = FusedBatchNorm(Conv2D(a, filter, {.padding = "SAME"}), scale, offset, mean,
                                       variance, {.epsilon = 1e-3f, .is_training = false})
                            .y;
  const Output y = Relu(a + normal);
  const auto types = Compare({y});
  EXPECT_EQ(types.count("_BlockedConv2D"), 2);
  EXPECT_EQ(types.count("_BlockedBatchNorm"), 0);
  EXPECT_EQ(types.count("Relu") + types.count("AddV2") + types.count("_Elementwise"),
            1);  // the variance
}

// Sizes that are not multiples of a tile, and paddings of all kinds.
TEST_F(BlockedGraph, WinogradAgreesWithTheDirectWay) {
  for (const char* padding : {"SAME", "VALID"}) {
    for (const int64_t size : {3, 5}) {
      for (const int64_t out : {16, 32, 48}) {
        const Output x = Feed(Shape{9, 13, 10, 16}), filter = Feed(Shape{size, size, 16, out});
        const Output y = Conv2D(x, filter, {.padding = padding});
        const Output loss = Sum(y * y * y, {0, 1, 2, 3});
        const auto gradients = Gradients({loss}, {x, filter});
        Compare({y, gradients[0].dense(), gradients[1].dense()}, size == 3 ? 2e-5 : 4e-5);
      }
    }
  }
}

// Batches of several units, more taps than fit the registers, rows that no window reaches.
TEST_F(BlockedGraph, SumsFiltersOfFewChannels) {
  for (const char* format : {"NHWC", "NCHW"}) {
    const bool first = std::string(format) == "NCHW";
    const Output x = Feed(first ? Shape{37, 3, 16, 12} : Shape{37, 16, 12, 3});
    const Output filter = Feed(Shape{7, 5, 3, 24});
    const Output y = Conv2D(
        x, filter,
        {.strides = first ? std::vector<int64_t>{1, 1, 2, 3} : std::vector<int64_t>{1, 2, 3, 1},
         .padding = "VALID",
         .data_format = format});
    const Output grad = Gradients({Sum(y * y, {0, 1, 2, 3})}, {filter})[0].dense();
    Compare({grad});
    Session one(graph_, {.threads = 1}), several(graph_, {.threads = 3});
    EXPECT_TRUE(one.Run(feeds_, grad).Identical(several.Run(feeds_, grad)));
  }
}

// What the gradient of an addition does for operands that might have been spread, but were not.
TEST_F(BlockedGraph, SkipsSumsOverNoAxes) {
  const Output x = Placeholder(DType::kFloat, PartialShape{-1, 8, 8, 16});
  feeds_.emplace_back(x, PseudoRandom(Shape{3, 8, 8, 16}, 7, -1, 1));
  const Output filter = Feed(Shape{3, 3, 16, 16}), bias = Feed(Shape{16});
  const Output y = Relu(Conv2D(x, filter, {.padding = "SAME"}) + bias);
  const auto gradients = Gradients({Sum(y * y, {0, 1, 2, 3})}, {filter, bias});
  const auto types = Compare({gradients[0].dense(), gradients[1].dense()});
  EXPECT_EQ(types.count("Sum"), 1);
  EXPECT_EQ(types.count("_FromBlocked"), 0);
}

TEST_F(BlockedGraph, SharesOutASingleImageByChannels) {
  const Output x = Feed(Shape{1, 14, 14, 32}), filter = Feed(Shape{5, 5, 32, 64}),
               bias = Feed(Shape{64});
  Compare({Relu(BiasAdd(Conv2D(x, filter, {.padding = "SAME"}), bias))});
}

TEST_F(BlockedGraph, PoolsBlocks) {
  for (const char* format : {"NHWC", "NCHW"}) {
    const bool first = std::string(format) == "NCHW";
    const Output x = Feed(first ? Shape{2, 16, 9, 9} : Shape{2, 9, 9, 16});
    const Output y =
        Conv2D(x, Feed(Shape{1, 1, 16, 32}), {.padding = "SAME", .data_format = format});
    const std::vector<int64_t> size =
        first ? std::vector<int64_t>{1, 1, 3, 2} : std::vector<int64_t>{1, 3, 2, 1};
    const std::vector<int64_t> step =
        first ? std::vector<int64_t>{1, 1, 2, 2} : std::vector<int64_t>{1, 2, 2, 1};
    const Output most =
        MaxPool(y, {.ksize = size, .strides = step, .padding = "SAME", .data_format = format});
    const Output average =
        AvgPool(y, {.ksize = size, .strides = step, .padding = "VALID", .data_format = format});
    const Output loss = Sum(Square(most), {0, 1, 2, 3}) + Sum(Square(average), {0, 1, 2, 3});
    Compare({most, average, Gradients({loss}, {x})[0].dense()});
  }
}

}  // namespace
}  // namespace sextant
