#include "sextant/runtime/call_order.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

TEST(CallOrderTest, SaysWhichNodesHaveNoOrder) {
  Graph graph;
  const GraphScope use(graph);
  const Output a =
      OpBuilder("Const").Attr("value", Tensor(1.0f)).Attr("dtype", DType::kFloat).Name("a").Build();
  const Output b = OpBuilder("Neg").Input(a).Name("b").Build();
  const Output c = OpBuilder("Neg").Input(a).Name("c").Build();
  const Status status = StatusOf([&] {
    OrderForCalls(graph, {{b.node(), c.node()}, {c.node(), b.node()}});
  });
  EXPECT_EQ(status.code(), Code::kInternal);
  EXPECT_NE(status.message().find("[Neg b], [Neg c]"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace sextant
