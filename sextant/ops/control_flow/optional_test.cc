#include "sextant/ops/control_flow/optional.h"

#include "sextant/ops/control_flow/control_flow_test.h"

namespace sextant {
namespace {

class OptionalTest : public ControlFlowTest {
 protected:
  Output Get(Output optional, DType dtype = DType::kFloat, const PartialShape& shape = {}) {
    return OptionalGetValue(optional, {dtype}, {shape})[0];
  }
};

TEST_F(OptionalTest, HoldsTensorsOrNothing) {
  const Output some = OptionalFromValue({Const(Tensor(3.f))});
  EXPECT_TRUE(Run(OptionalHasValue(some)).scalar<bool>());
  EXPECT_FALSE(Run(OptionalHasValue(OptionalNone())).scalar<bool>());
  EXPECT_EQ(Run(Get(some)).AsDouble(), 3);
}

TEST_F(OptionalTest, Errors) {
  ExpectError(Get(OptionalNone()), "INVALID_ARGUMENT", "does not have a value");
  const Output some = OptionalFromValue({Const(Tensor(3.f))});
  ExpectError(Get(some, DType::kInt32), "INVALID_ARGUMENT", "int32");
  ExpectError(Get(some, DType::kFloat, {2}), "INVALID_ARGUMENT", "[2]");
}

}  // namespace
}  // namespace sextant
