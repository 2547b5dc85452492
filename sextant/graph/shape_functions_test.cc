#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

std::string Broadcast(const PartialShape& a, const PartialShape& b) {
  return shapes::Broadcast(a, b).ToString();
}

TEST(ShapeFunctionsTest, Broadcast) {
  EXPECT_EQ(Broadcast({2, 3}, {3}), "[2,3]");
  EXPECT_EQ(Broadcast({5, 1, 3}, {1, 4, 1}), "[5,4,3]");
  EXPECT_EQ(Broadcast(Shape(), {2}), "[2]");
  EXPECT_EQ(Broadcast({-1, 3}, {4, -1}), "[4,3]");
  EXPECT_EQ(Broadcast({-1}, {1}), "[?]");
  EXPECT_EQ(Broadcast({0}, {1}), "[0]");
  EXPECT_EQ(Broadcast(PartialShape(), {1}), "<unknown>");
  EXPECT_THROW(Broadcast({2}, {3}), Error);
}

TEST(ShapeFunctionsTest, NormalizeAxis) {
  EXPECT_EQ(shapes::NormalizeAxis(-1, 3), 2);
  EXPECT_EQ(shapes::NormalizeAxis(0, 1), 0);
  EXPECT_THROW(shapes::NormalizeAxis(3, 3), Error);
  EXPECT_THROW(shapes::NormalizeAxis(-4, 3), Error);
  EXPECT_THROW(shapes::NormalizeAxis(0, 0), Error);
}

TEST(ShapeFunctionsTest, Reduction) {
  Graph graph;
  const GraphScope use(graph);
  const auto input = [](const PartialShape& shape, DType dtype) {
    return OpBuilder("Placeholder").Attr("dtype", dtype).Attr("shape", shape).Build();
  };
  const auto sum = [&](const PartialShape& shape, Output axes, bool keep) {
    return OpBuilder("Sum")
        .Input(input(shape, DType::kFloat))
        .Input(axes)
        .Attr("keep_dims", keep)
        .Build()
        .shape()
        .ToString();
  };
  EXPECT_EQ(sum({2, -1, 4}, ConstInts({-1}), false), "[2,?]");
  EXPECT_EQ(sum({2, -1, 4}, ConstInts({0, 2}), true), "[1,?,1]");
  EXPECT_EQ(sum({2, 3}, Const(Tensor(0)), false), "[3]");
  const Output unknown = input({1}, DType::kInt32);
  EXPECT_EQ(sum({2, 3}, unknown, true), "[?,?]");
  EXPECT_EQ(sum({2, 3}, unknown, false), "<unknown>");
  EXPECT_THROW(sum({2, 3}, ConstInts({2}), false), Error);
}

}  // namespace
}  // namespace sextant
