#include "sextant/ops/math/cast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

Tensor Eval(const Tensor& x, DType dtype, bool truncate = false) {
  Graph graph;
  GraphScope use(graph);
  const Output y = Cast(Const(x), dtype, {.truncate = truncate});
  return Session(graph).Run(y);
}

// What TensorFlow 2.15 gives on x86.
TEST(CastTest, NumbersThatDoNotFit) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::Of<float>({nan, 1e30f, -1e30f, 300.7f, -300.7f, -1.5f});
  const int32_t low = std::numeric_limits<int32_t>::min();
  EXPECT_TRUE(
      Eval(x, DType::kInt32).Identical(Tensor::Of<int32_t>({low, low, low, 300, -300, -1})));
  EXPECT_TRUE(Eval(x, DType::kInt8).Identical(Tensor::Of<int8_t>({0, 0, 0, 44, -44, -1})));
  EXPECT_TRUE(Eval(x, DType::kUInt8).Identical(Tensor::Of<uint8_t>({0, 0, 0, 44, 212, 255})));
  EXPECT_TRUE(
      Eval(x, DType::kBool).Identical(Tensor::Of<bool>({true, true, true, true, true, true})));
}

TEST(CastTest, TruncatesTheMantissa) {
  const Tensor x(std::bit_cast<float>(0x3f80ffffu));
  EXPECT_EQ(Eval(x, DType::kBFloat16).scalar<BFloat16>().bits, 0x3f81);
  EXPECT_EQ(Eval(x, DType::kBFloat16, true).scalar<BFloat16>().bits, 0x3f80);
}

TEST(CastTest, ComplexNumbersLoseTheirImaginaryPart) {
  const Tensor x = Tensor::Of<std::complex<float>>({{1.5f, 2.0f}, {0.0f, 2.0f}});
  EXPECT_TRUE(Eval(x, DType::kFloat).Identical(Tensor::Of<float>({1.5f, 0.0f})));
  EXPECT_TRUE(Eval(x, DType::kBool).Identical(Tensor::Of<bool>({true, false})));
}

TEST(BitcastTest, ChangesTheLastDimension) {
  Graph graph;
  GraphScope use(graph);
  const Output bytes = Bitcast(Const(Tensor::Of<int32_t>({0x01020304})), DType::kUInt8);
  EXPECT_TRUE(Session(graph).Run(bytes).Identical(Tensor::Of<uint8_t>({1, 4}, {4, 3, 2, 1})));
  const Output back = Bitcast(bytes, DType::kInt32);
  EXPECT_TRUE(Session(graph).Run(back).Identical(Tensor::Of<int32_t>({0x01020304})));
}

}  // namespace
}  // namespace sextant
