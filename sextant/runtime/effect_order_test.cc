// What touches a variable runs in the order of the program.
#include <gtest/gtest.h>

#include "sextant/sextant.h"

namespace sextant {
namespace {

// Constants that are made for known values come late in the graph; what reads them does not.
TEST(EffectOrderTest, FoldingKeepsTheOrderOfReadsAndChanges) {
  Graph graph;
  const GraphScope use(graph);
  const Variable v("v", Tensor(1.0f));
  const Output is_training = Placeholder(DType::kBool, {});
  const Output z = Placeholder(DType::kFloat, {});
  const Output before = Cond(
      is_training, [&] { return std::vector<Output>{Neg(z)}; },
      [&] { return std::vector<Output>{Abs(v.value())}; })[0];
  const Operation change = AssignVariable(v.handle(), z);
  const Operation six = AssignVariable(v.handle(), Const(Tensor(2.0f)) * Const(Tensor(3.0f)));
  const Output after = ReadVariable(v.handle());
  Session session(graph);
  session.Run(v.initializer());
  const FeedMap feeds = {{is_training, Tensor(false)}, {z, Tensor(5.0f)}};
  EXPECT_EQ(session.Run(feeds, std::vector{before}, {change})[0].scalar<float>(), 1.0f);
  EXPECT_EQ(session.Run(v.value()).scalar<float>(), 5.0f);
  EXPECT_EQ(session.Run({}, std::vector{after}, {six})[0].scalar<float>(), 6.0f);
}

}  // namespace
}  // namespace sextant
