#include "sextant/ops/math/compare.h"

#include <gtest/gtest.h>

#include <limits>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/select.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

TEST(CompareTest, ShapesThatDoNotFitMayBeAnAnswer) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kInt32), y = Placeholder(DType::kInt32);
  const Output equal = Equal(x, y, {.incompatible_shape_error = false});
  const Output differ = NotEqual(x, y, {.incompatible_shape_error = false});
  const Output strict = Equal(x, y);
  Session session(graph);
  const FeedMap feeds = {{x, Tensor::Of<int32_t>({1, 2, 3})}, {y, Tensor::Of<int32_t>({1, 2})}};
  EXPECT_TRUE(session.Run(feeds, equal).Identical(Tensor(false)));
  EXPECT_TRUE(session.Run(feeds, differ).Identical(Tensor(true)));
  EXPECT_THROW(session.Run(feeds, strict), Error);
}

TEST(CompareTest, NanEqualsNothing) {
  Graph graph;
  GraphScope use(graph);
  const Output nan = Const(Tensor(std::numeric_limits<float>::quiet_NaN()));
  Session session(graph);
  EXPECT_FALSE(session.Run(Equal(nan, nan)).scalar<bool>());
  EXPECT_TRUE(session.Run(NotEqual(nan, nan)).scalar<bool>());
}

TEST(SelectTest, VectorChoosesRows) {
  Graph graph;
  GraphScope use(graph);
  const Output y = Select(Const(Tensor::Of<bool>({true, false})),
                          Const(Tensor::Of<int64_t>({2, 2}, {1, 2, 3, 4})),
                          Const(Tensor::Of<int64_t>({2, 2}, {5, 6, 7, 8})));
  EXPECT_TRUE(Session(graph).Run(y).Identical(Tensor::Of<int64_t>({2, 2}, {1, 2, 7, 8})));
}

TEST(SelectTest, AllThreeBroadcast) {
  Graph graph;
  GraphScope use(graph);
  const Output y = SelectV2(Const(Tensor::Of<bool>({2, 1}, {true, false})),
                            Const(Tensor::Of<std::string>({"a", "b"})), Const(Tensor("c")));
  EXPECT_TRUE(
      Session(graph).Run(y).Identical(Tensor::Of<std::string>({2, 2}, {"a", "b", "c", "c"})));
}

}  // namespace
}  // namespace sextant
