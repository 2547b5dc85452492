// The expected bytes are those of TensorFlow.
#include "sextant/ops/summary/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class SummaryTest : public testing::Test {
 protected:
  std::string Hex(Output summary) {
    const Tensor value = Session(graph_).Run(summary);
    std::string hex;
    for (const unsigned char byte : value.scalar<std::string>()) {
      hex += fmt::format("{:02x}", byte);
    }
    return hex;
  }
  std::string ErrorOf(Output summary) {
    return StatusOf([&] { Session(graph_).Run(summary); }).ToString();
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(SummaryTest, Scalars) {
  EXPECT_EQ(Hex(ScalarSummary(Const(Tensor("loss")), Const(Tensor(0.5f)))),
            "0a0b0a046c6f7373150000003f");
  EXPECT_EQ(Hex(ScalarSummary(Const(Tensor::Of<std::string>({"a", "b"})),
                              Const(Tensor::Of<int32_t>({1, 2})))),
            "0a080a0161150000803f0a080a01621500000040");
  const std::string error =
      ErrorOf(ScalarSummary(Const(Tensor::Of<std::string>({"a"})), Const(Tensor(1.f))));
  EXPECT_NE(error.find("not the same shape: [1] != []"), std::string::npos) << error;
}

TEST_F(SummaryTest, Histograms) {
  EXPECT_EQ(
      Hex(HistogramSummary(Const(Tensor("h")), Const(Tensor::Of<int32_t>({-5, 3})))),
      "0a87010a01682a81010900000000000014c01100000000000008401900000000000000402100000000000000"
      "c02900000000000041403228d8b276a9356614c021d10e9a768b12c068bc10359a0707400d9cc5a029550940"
      "ffffffffffffef7f3a280000000000000000000000000000f03f0000000000000000000000000000f03f0000"
      "000000000000");
  EXPECT_EQ(
      Hex(HistogramSummary(Const(Tensor("h")), Const(Tensor::Zeros(DType::kFloat, {0})))),
      "0a2b0a01682a2609ffffffffffffef7f11ffffffffffffefff3208ffffffffffffef7f3a08000000000000000"
      "0");
  for (const float bad : {std::nanf(""), -INFINITY}) {
    EXPECT_TRUE(ErrorOf(HistogramSummary(Const(Tensor("h")), Const(Tensor::Of<float>({1, bad}))))
                    .starts_with("INVALID_ARGUMENT"));
  }
}

TEST_F(SummaryTest, Tensors) {
  const Output text = TensorSummary(Const(Tensor("t")), Const(Tensor::Of<std::string>({"x", "yy"})),
                                    Const(Tensor("\x0a\x06\x0a\x04text")));
  EXPECT_EQ(Hex(text), "0a1e0a0174420f0807120412020802420178420279794a080a060a0474657874");
  EXPECT_EQ(Hex(TensorSummary(Const(Tensor("t")), Const(Tensor(3.5f)), Const(Tensor("")))),
            "0a110a0174420a080112002204000060404a00");
  const Output by_node = OpBuilder("TensorSummary")
                             .Input(Const(Tensor::Of<float>({1, 2})))
                             .Name("TensorSummary")
                             .Build();
  EXPECT_EQ(Hex(by_node),
            "0a233a0d54656e736f7253756d6d6172794212080112041202080222080000803f00000040");
}

TEST_F(SummaryTest, Merging) {
  const Output a = ScalarSummary(Const(Tensor("a")), Const(Tensor(1.f)));
  const Output b = ScalarSummary(Const(Tensor("b")), Const(Tensor(1.f)));
  EXPECT_EQ(Hex(MergeSummary({a, b})), "0a080a0161150000803f0a080a0162150000803f");
  EXPECT_NE(ErrorOf(MergeSummary({a, a})).find("Duplicate tag a"), std::string::npos);
  EXPECT_TRUE(ErrorOf(MergeSummary({Const(Tensor("junk"))})).starts_with("INVALID_ARGUMENT"));
}

}  // namespace
}  // namespace sextant
