#include "sextant/ops/control_flow/stack.h"

#include "sextant/ops/control_flow/control_flow_test.h"

namespace sextant {
namespace {

class StackTest : public ControlFlowTest {};

TEST_F(StackTest, LastInFirstOut) {
  const Output stack = StackV2(Const(Tensor(-1)), DType::kFloat);
  const Output first = StackPushV2(stack, Const(Tensor(1.f)));
  const ControlDependencies after_first({first});
  const Output second = StackPushV2(stack, Const(Tensor(2.f)));
  const ControlDependencies after_second({second});
  const Output top = StackPopV2(stack, DType::kFloat);
  const ControlDependencies after_top({top});
  const Output bottom = StackPopV2(stack, DType::kFloat);
  const auto values = Session(graph_).Run({top, bottom});
  EXPECT_EQ(values[0].AsDouble(), 2);
  EXPECT_EQ(values[1].AsDouble(), 1);
}

TEST_F(StackTest, ClosingEndsIt) {
  const Output stack = StackV2(Const(Tensor(-1)), DType::kFloat);
  const Output pushed = StackPushV2(stack, Const(Tensor(1.f)));
  const ControlDependencies after_push({pushed});
  const Operation close = OpBuilder("StackCloseV2").Input(stack).BuildOperation();
  const ControlDependencies after_close({close});
  ExpectError(StackPopV2(stack, DType::kFloat), "INVALID_ARGUMENT", "");
}

TEST_F(StackTest, Errors) {
  ExpectError(StackPopV2(StackV2(Const(Tensor(-1)), DType::kFloat), DType::kFloat),
              "INVALID_ARGUMENT", "is empty");
  ExpectError(StackPushV2(StackV2(Const(Tensor(0)), DType::kFloat), Const(Tensor(1.f))),
              "INVALID_ARGUMENT", "max_size (0)");
  ExpectError(StackPushV2(StackV2(Const(Tensor(-1)), DType::kFloat), Const(Tensor(1))),
              "INVALID_ARGUMENT", "int32");
}

}  // namespace
}  // namespace sextant
