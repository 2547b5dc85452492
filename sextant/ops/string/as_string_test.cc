#include "sextant/ops/string/as_string.h"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <vector>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class AsStringTest : public testing::Test {
 protected:
  using Strings = std::vector<std::string>;
  Strings Run(const Tensor& x, const AsStringOptions& options = {}) {
    const Tensor y = Session(graph_).Run(AsString(Const(x), options));
    return Strings(y.data<std::string>(), y.data<std::string>() + y.num_elements());
  }
  Code CodeOf(const Tensor& x, const AsStringOptions& options) {
    try {
      Run(x, options);
    } catch (const Error& e) {
      return e.code();
    }
    return Code::kOk;
  }
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(AsStringTest, Floats) {
  const Tensor x = Tensor::Of<float>({-1.5f, 1e10f, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(Run(x), (Strings{"-1.500000", "10000000000.000000", "inf"}));
  EXPECT_EQ(Run(x, {.precision = 0}), (Strings{"-2", "10000000000", "inf"}));
  EXPECT_EQ(Run(x, {.scientific = true}), (Strings{"-1.500000e+00", "1.000000e+10", "inf"}));
  EXPECT_EQ(Run(x, {.shortest = true}), (Strings{"-1.5", "1e+10", "inf"}));
  EXPECT_EQ(Run(x, {.precision = 1, .width = 6, .fill = "0"}),
            (Strings{"-001.5", "10000000000.0", "   inf"}));
  EXPECT_EQ(Run(Tensor::Of<Half>({Half(3.14159f)})), (Strings{"3.140625"}));
}

TEST_F(AsStringTest, LongResults) {
  EXPECT_EQ(Run(Tensor(1.5), {.precision = 100}), (Strings{"1.5" + std::string(99, '0')}));
}

TEST_F(AsStringTest, Integers) {
  EXPECT_EQ(Run(Tensor::Of<int32_t>({-3, 127}), {.width = 5, .fill = "0"}),
            (Strings{"-0003", "00127"}));
  EXPECT_EQ(Run(Tensor::Of<int64_t>({7}), {.width = 4, .fill = "+"}), (Strings{"  +7"}));
  EXPECT_EQ(Run(Tensor::Of<uint8_t>({7}), {.width = 4, .fill = "+"}), (Strings{"   7"}));
  EXPECT_EQ(Run(Tensor::Scalar(std::numeric_limits<uint64_t>::max())),
            (Strings{"18446744073709551615"}));
}

TEST_F(AsStringTest, OtherTypes) {
  EXPECT_EQ(Run(Tensor::Of<bool>({true, false}), {.width = 9}), (Strings{"true", "false"}));
  EXPECT_EQ(Run(Tensor("ab"), {.width = 4, .fill = "-"}), (Strings{"ab  "}));
  EXPECT_EQ(Run(Tensor::Scalar(std::complex<float>(1, -2)), {.precision = 1}),
            (Strings{"(1.0,-2.0)"}));
}

TEST_F(AsStringTest, RejectsOptionsThatDoNotFit) {
  EXPECT_EQ(CodeOf(Tensor(1.0f), {.scientific = true, .shortest = true}), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Tensor(1.0f), {.fill = "x"}), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Tensor(1.0f), {.fill = "00"}), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Tensor(1), {.precision = 2}), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Tensor(true), {.shortest = true}), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant
