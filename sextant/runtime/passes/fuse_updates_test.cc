#include "sextant/runtime/passes/pass_test.h"

namespace sextant {
namespace {

class FuseUpdatesTest : public PassTest {
 protected:
  // The variables after one step of gradient descent on each.
  std::vector<Output> Step(const std::vector<Variable>& variables, bool ordered) {
    const Output rate = Const(Tensor(0.25f));
    std::vector<Operation> updates;
    for (const Variable& v : variables) {
      const ControlDependencies after(ordered ? updates : std::vector<Operation>());
      updates.push_back(ResourceApplyGradientDescent(v.handle(), rate, Feed({2, 3})));
    }
    const ControlDependencies after(updates);
    std::vector<Output> values;
    for (const Variable& v : variables) values.push_back(v.Read());
    return values;
  }
};

TEST_F(FuseUpdatesTest, IndependentUpdatesBecomeOneSweep) {
  const Variable a("a", PseudoRandom({2, 3}, 11)), b("b", PseudoRandom({2, 3}, 12));
  Copy(Step({a, b}, /*ordered=*/false));
  Apply(FuseUpdates);
  EXPECT_EQ(Before("ResourceApplyGradientDescent"), 2);
  EXPECT_EQ(After("ResourceApplyGradientDescent"), 0);
  EXPECT_EQ(After("_ApplyMany"), 1);
}

TEST_F(FuseUpdatesTest, OrderedUpdatesStay) {
  const Variable a("a", PseudoRandom({2, 3}, 11)), b("b", PseudoRandom({2, 3}, 12));
  Copy(Step({a, b}, /*ordered=*/true));
  Apply(FuseUpdates);
  EXPECT_LE(After("_ApplyMany") + After("ResourceApplyGradientDescent"), 2);
  EXPECT_GE(After("_ApplyMany") + After("ResourceApplyGradientDescent"), 2);
}

}  // namespace
}  // namespace sextant
