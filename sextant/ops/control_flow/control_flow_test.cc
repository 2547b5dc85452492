#include "sextant/ops/control_flow/control_flow.h"

#include "sextant/ops/control_flow/control_flow_test.h"
#include "sextant/ops/math/binary.h"

namespace sextant {
namespace {

TEST_F(ControlFlowTest, MergeTakesTheLiveSide) {
  const Output p = Placeholder(DType::kBool, Shape());
  const SwitchOutputs sides = Switch(Const(Tensor(3.0f)), p);
  const MergeOutputs merged = Merge({sides.output_false * 10.0, sides.output_true + 1.0});
  Session session(graph_);
  auto values = session.Run({{p, Tensor(true)}}, {merged.output, merged.value_index});
  EXPECT_EQ(values[0].AsDouble(), 4);
  EXPECT_EQ(values[1].AsInt64(), 1);
  values = session.Run({{p, Tensor(false)}}, {merged.output, merged.value_index});
  EXPECT_EQ(values[0].AsDouble(), 30);
  EXPECT_EQ(values[1].AsInt64(), 0);
}

TEST_F(ControlFlowTest, DeadTensorsCannotBeFetched) {
  const SwitchOutputs sides = Switch(Const(Tensor(3.0f)), Const(Tensor(true)));
  EXPECT_NE(ErrorOf(sides.output_false + 1.0), "OK");
  EXPECT_EQ(ErrorOf(sides.output_true + 1.0), "OK");
}

TEST_F(ControlFlowTest, Shapes) {
  const Output p = Placeholder(DType::kBool, Shape());
  const SwitchOutputs sides = Switch(Placeholder(DType::kFloat, {2, 3}), p);
  EXPECT_EQ(sides.output_true.shape().ToString(), "[2,3]");
  const MergeOutputs merged = Merge({sides.output_true, Placeholder(DType::kFloat, {4, 3})});
  EXPECT_EQ(merged.output.shape().ToString(), "[?,3]");
  EXPECT_EQ(merged.value_index.shape().ToString(), "[]");
}

TEST_F(ControlFlowTest, AbortFailsWithItsMessage) {
  const Operation abort = OpBuilder("Abort").Attr("error_msg", "enough").BuildOperation();
  try {
    Session(graph_).Run(Group({abort}));
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kAborted);
    EXPECT_NE(e.message().find("enough"), std::string::npos);
  }
}

}  // namespace
}  // namespace sextant
