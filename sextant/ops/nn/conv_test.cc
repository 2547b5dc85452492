#include "sextant/ops/nn/conv.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/runtime/session.h"
#include "sextant/tensor/float16.h"
#include "sextant/testing/counting.h"

namespace sextant {
namespace {

double Dot(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape().ToString(), b.shape().ToString());
  double sum = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) sum += a.data<double>()[i] * b.data<double>()[i];
  return sum;
}

class ConvTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  void ExpectError(const std::function<Output()>& build, const std::string& part) {
    try {
      Run(build());
      ADD_FAILURE() << "no error: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kInvalidArgument);
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
  }
  Graph graph_;
  GraphScope scope_{graph_};
  // A 4 x 4 image, a 2 x 2 filter.
  const Output image_ = Const(Counting<float>({1, 4, 4, 1}));
  const Output filter_ = Const(Counting<float>({2, 2, 1, 1}));
};

TEST_F(ConvTest, StridesPadsAndDilates) {
  EXPECT_TRUE(Run(Conv2D(image_, filter_, {.strides = {1, 2, 2, 1}, .padding = "SAME"}))
                  .Identical(Tensor::Of<float>({1, 2, 2, 1}, {44, 64, 124, 144})));
  EXPECT_TRUE(Run(Conv2D(image_, filter_,
                         {.strides = {1, 2, 3, 1},
                          .padding = "EXPLICIT",
                          .explicit_paddings = {0, 0, 1, 0, 0, 2, 0, 0}}))
                  .Identical(Tensor::Of<float>({1, 2, 2, 1}, {11, 12, 84, 44})));
  EXPECT_TRUE(Run(Conv2D(image_, filter_, {.dilations = {1, 2, 3, 1}}))
                  .Identical(Tensor::Of<float>({1, 2, 1, 1}, {84, 124})));
}

TEST_F(ConvTest, GroupsChannels) {
  const Output x = Const(Counting<float>({1, 1, 2, 4})), f = Const(Counting<float>({1, 1, 2, 4}));
  EXPECT_TRUE(Run(Conv2D(x, f))
                  .Identical(Tensor::Of<float>({1, 1, 2, 4}, {11, 14, 37, 44, 35, 46, 77, 92})));
}

TEST_F(ConvTest, Gradients) {
  const Output grad = Const(Counting<float>({1, 2, 2, 1}));
  const Conv2DOptions options{.strides = {1, 2, 2, 1}, .padding = "SAME"};
  const Tensor expected =
      Tensor::Of<float>({1, 4, 4, 1}, {1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16});
  EXPECT_TRUE(Run(Conv2DBackpropInput({1, 4, 4, 1}, filter_, grad, options)).Identical(expected));
  EXPECT_TRUE(Run(Conv2DBackpropInput({4, 4}, filter_, grad, options)).Identical(expected));
  EXPECT_TRUE(Run(Conv2DBackpropInput({1, 3, 3, 1}, filter_, grad))
                  .Identical(Tensor::Of<float>({1, 3, 3, 1}, {1, 4, 4, 6, 20, 16, 9, 24, 16})));
  EXPECT_TRUE(Run(Conv2DBackpropFilter(image_, {2, 2, 1, 1}, grad, options))
                  .Identical(Tensor::Of<float>({2, 2, 1, 1}, {78, 88, 118, 128})));
}

TEST_F(ConvTest, OtherTypes) {
  const auto check = [&]<typename T>(T) {
    const Output y = Conv2D(Const(Counting<T>({1, 4, 4, 1})), Const(Counting<T>({2, 2, 1, 1})),
                            {.strides = {1, 2, 2, 1}});
    EXPECT_TRUE(Run(y).Identical(Tensor::Of<T>({1, 2, 2, 1}, {T(44), T(64), T(124), T(144)})));
  };
  check(double{});
  check(int32_t{});
  check(Half{});
  check(BFloat16{});
}

// <conv(x, f), g> == <x, backprop_input(f, g)> == <f, backprop_filter(x, g)>, and channels may come
// first; also where the patches take several pieces.
TEST_F(ConvTest, GradientsAreAdjointInBothFormats) {
  struct Case {
    Shape x, f, g;
    Conv2DOptions options;
  };
  const Case cases[] = {
      {{2, 9, 7, 4}, {3, 2, 2, 6}, {2, 5, 3, 6}, {.strides = {1, 2, 3, 1}, .padding = "SAME"}},
      {{2, 9, 7, 3}, {3, 2, 3, 5}, {2, 5, 3, 5}, {.dilations = {1, 2, 4, 1}}},
      {{1, 6, 5, 4}, {1, 1, 2, 4}, {1, 6, 5, 4}, {.padding = "SAME"}},
      {{1, 3, 2, 2},
       {4, 3, 2, 2},
       {1, 3, 2, 2},
       {.strides = {1, 2, 2, 1},
        .padding = "EXPLICIT",
        .explicit_paddings = {0, 0, 2, 4, 3, 1, 0, 0}}},
      {{2, 50, 50, 32}, {5, 5, 32, 8}, {2, 50, 50, 8}, {.padding = "SAME"}},
  };
  const auto first = [](Output t) { return Transpose(t, {0, 3, 1, 2}); };
  const auto last = [](Output t) { return Transpose(t, {0, 2, 3, 1}); };
  const auto turned = [](const std::vector<int64_t>& v, size_t n) {
    if (v.empty()) return v;
    std::vector<int64_t> result(v.begin(), v.begin() + n);
    result.insert(result.end(), v.end() - n, v.end());
    result.insert(result.end(), v.begin() + n, v.end() - n);
    return result;
  };
  for (const Case& c : cases) {
    const Tensor x = Counting<double>(c.x, 7), f = Counting<double>(c.f, 5),
                 g = Counting<double>(c.g, 3);
    const std::vector<int64_t> xs(c.x.dims().begin(), c.x.dims().end()),
        fs(c.f.dims().begin(), c.f.dims().end());
    const Tensor y = Run(Conv2D(Const(x), Const(f), c.options));
    const Tensor dx = Run(Conv2DBackpropInput(xs, Const(f), Const(g), c.options));
    const Tensor df = Run(Conv2DBackpropFilter(Const(x), fs, Const(g), c.options));
    EXPECT_EQ(Dot(y, g), Dot(x, dx));
    EXPECT_EQ(Dot(y, g), Dot(f, df));
    Conv2DOptions options = c.options;
    options.data_format = "NCHW";
    options.strides = turned(options.strides, 1);
    options.dilations = turned(options.dilations, 1);
    options.explicit_paddings = turned(options.explicit_paddings, 2);
    const Output x1 = first(Const(x)), g1 = first(Const(g));
    EXPECT_TRUE(Run(last(Conv2D(x1, Const(f), options))).Identical(y));
    EXPECT_TRUE(Run(last(Conv2DBackpropInput(turned(xs, 1), Const(f), g1, options))).Identical(dx));
    EXPECT_TRUE(Run(Conv2DBackpropFilter(x1, fs, g1, options)).Identical(df));
  }
}

TEST_F(ConvTest, NothingToSumGivesZeros) {
  const auto empty = [](const Shape& shape) { return Const(Tensor(DType::kFloat, shape)); };
  EXPECT_TRUE(Run(Conv2D(empty({1, 4, 4, 0}), Const(Counting<float>({1, 1, 2, 2}))))
                  .Identical(Tensor::Zeros(DType::kFloat, {1, 4, 4, 2})));
  EXPECT_EQ(Run(Conv2D(empty({1, 1, 4, 1}), filter_)).shape(), Shape({1, 0, 3, 1}));
  EXPECT_TRUE(Run(Conv2DBackpropInput({1, 1, 4, 1}, filter_, empty({1, 0, 3, 1})))
                  .Identical(Tensor::Zeros(DType::kFloat, {1, 1, 4, 1})));
  EXPECT_TRUE(Run(Conv2DBackpropFilter(empty({0, 4, 4, 1}), {2, 2, 1, 3}, empty({0, 3, 3, 3})))
                  .Identical(Tensor::Zeros(DType::kFloat, {2, 2, 1, 3})));
}

TEST_F(ConvTest, RejectsWhatDoesNotFit) {
  const auto ones = [](const Shape& shape) { return Const(Counting<float>(shape)); };
  ExpectError([&] { return Conv2D(image_, ones({2, 2, 3, 1})); }, "(1)");
  ExpectError(
      [&] {
        return Conv2D(ones({1, 4, 4, 4}), ones({2, 2, 2, 3}));
      },
      "Depth of output (3)");
  ExpectError(
      [&] {
        return Conv2D(image_, ones({6, 2, 1, 1}));
      },
      "output size would be negative: -1 [input_size: 4, effective_filter_size: 6");
  ExpectError([&] { return Conv2D(image_, ones({0, 2, 1, 1})); }, "zero elements");
  ExpectError([&] { return Conv2D(image_, filter_, {.strides = {1, 0, 1, 1}}); }, "[1,0,1,1]");
  ExpectError([&] { return Conv2D(image_, filter_, {.strides = {1, 1}}); }, "4 values");
  ExpectError([&] { return Conv2D(image_, filter_, {.padding = "EXPLICIT"}); }, "8 values");
  ExpectError(
      [&] {
        return Conv2DBackpropInput({1, 9, 4, 1}, filter_, image_);
      },
      "[1,8,3,1] for input [1,9,4,1] and filter [2,2,1,1], got [1,4,4,1]");
  ExpectError([&] { return Conv2DBackpropInput({1, 4, 4}, filter_, image_); }, "3");
  ExpectError(
      [&] {
        return Conv2DBackpropFilter(image_, {5, 2, 1, 1}, image_);
      },
      "[1,0,3,1] for input [1,4,4,1]");
}

}  // namespace
}  // namespace sextant
