#include "sextant/ops/control_flow/assert.h"

#include "sextant/ops/array/identity.h"
#include "sextant/ops/control_flow/control_flow_test.h"

namespace sextant {
namespace {

class AssertTest : public ControlFlowTest {};

TEST_F(AssertTest, ShowsTheData) {
  const Output data = Const(Tensor::Of<int32_t>({4, 5, 6, 7}));
  const auto guarded = [&](bool holds) {
    const ControlDependencies after({Assert(
        Const(Tensor(holds)), {Const(Tensor("x must be small")), data, Const(Tensor(1.5f))})});
    return Identity(data);
  };
  EXPECT_EQ(ErrorOf(guarded(true)), "OK");
  ExpectError(guarded(false), "INVALID_ARGUMENT",
              "assertion failed: [x must be small] [4 5 6...] [1.5]");
}

TEST_F(AssertTest, PrintPassesItsInputOn) {
  const Output x = Const(Tensor::Of<float>({1, 2}));
  testing::internal::CaptureStderr();
  EXPECT_EQ(Floats(Print(x, {x}, {.message = "x = "})), (std::vector<float>{1, 2}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "x = [1 2]\n");
}

}  // namespace
}  // namespace sextant
