#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

class ConstantValueTest : public testing::Test {
 protected:
  static Output Input(const PartialShape& shape, DType dtype = DType::kFloat) {
    return OpBuilder("Placeholder").Attr("dtype", dtype).Attr("shape", shape).Build();
  }
  static Output ShapeOf(Output x) { return OpBuilder("Shape").Input(x).Build(); }
  static Output Element(Output vector, int64_t i) {
    return OpBuilder("StridedSlice")
        .Input(vector)
        .Input(ConstInts({i}))
        .Input(ConstInts({i + 1}))
        .Input(ConstInts({1}))
        .Attr("shrink_axis_mask", 1)
        .Build();
  }
  static Output Binary(const char* op, Output a, Output b) {
    return OpBuilder(op).Input(a).Input(b).Build();
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(ConstantValueTest, ConstantsOfAnyType) {
  EXPECT_EQ(ConstantValue(Const(Tensor(2.5f)))->AsDouble(), 2.5);
  const Output same = OpBuilder("Identity").Input(Const(Tensor("x"))).Build();
  EXPECT_EQ(ConstantValue(same)->scalar<std::string>(), "x");
}

TEST_F(ConstantValueTest, ShapesOfWhatIsKnown) {
  const Output x = Input({2, 3, 4});
  EXPECT_EQ(ConstantValue(ShapeOf(x))->AsInt64s(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(ConstantValue(OpBuilder("Size").Input(x).Build())->AsInt64(), 24);
  EXPECT_EQ(ConstantValue(OpBuilder("Rank").Input(x).Build())->AsInt64(), 3);
  EXPECT_FALSE(ConstantValue(ShapeOf(Input({2, -1}))));
}

TEST_F(ConstantValueTest, ShapesOfVariables) {
  const auto shape_of = [](const PartialShape& shape) {
    const Output handle =
        OpBuilder("VarHandleOp").Attr("dtype", DType::kFloat).Attr("shape", shape).Build();
    return OpBuilder("VariableShape").Input(handle).Build();
  };
  EXPECT_EQ(ConstantValue(shape_of({7, 5}))->AsInt64s(), (std::vector<int64_t>{7, 5}));
  EXPECT_FALSE(ConstantValue(shape_of({7, -1})));
  EXPECT_EQ(ConstantValueAsShape(shape_of({7, -1})).ToString(), "[7,?]");
  EXPECT_FALSE(ConstantValue(shape_of(PartialShape())));
}

TEST_F(ConstantValueTest, ArithmeticOnSizes) {
  const Output shape = ShapeOf(Input({6, 7}));
  const Output rows = Element(shape, 0), columns = Element(shape, 1);
  EXPECT_EQ(ConstantValue(Binary("Mul", rows, columns))->AsInt64(), 42);
  EXPECT_EQ(ConstantValue(Binary("FloorDiv", rows, Const(Tensor(4))))->AsInt64(), 1);
  EXPECT_EQ(ConstantValue(Binary("FloorDiv", Const(Tensor(-7)), Const(Tensor(2))))->AsInt64(), -4);
  EXPECT_FALSE(ConstantValue(Binary("FloorDiv", rows, Const(Tensor(0)))));
  EXPECT_EQ(ConstantValue(Binary("Sub", shape, Const(Tensor(1))))->AsInt64s(),
            (std::vector<int64_t>{5, 6}));
  // What int32 arithmetic would wrap round is left unknown.
  EXPECT_FALSE(ConstantValue(Binary("Mul", Const(Tensor(1 << 30)), Const(Tensor(4)))));
}

TEST_F(ConstantValueTest, PartialShapesThroughPackConcatAndSlices) {
  const Output shape = ShapeOf(Input({-1, 28, 3}));
  const Output packed =
      OpBuilder("Pack").Input({Element(shape, 0), Element(shape, 2), Const(Tensor(-1))}).Build();
  EXPECT_EQ(ConstantValueAsShape(packed).ToString(), "[?,3,?]");
  const Output tail =
      OpBuilder("Slice").Input(shape).Input(ConstInts({1})).Input(ConstInts({-1})).Build();
  const Output joined =
      OpBuilder("ConcatV2").Input({ConstInts({5}), tail}).Input(Const(Tensor(0))).Build();
  EXPECT_EQ(ConstantValueAsShape(joined).ToString(), "[5,28,3]");
  EXPECT_EQ(ConstantValueAsShape(Input({4}, DType::kInt32)).ToString(), "[?,?,?,?]");
  EXPECT_EQ(ConstantValueAsShape(Input({-1}, DType::kInt32)).ToString(), "<unknown>");
  EXPECT_EQ(ConstantValueAsShape(Const(Tensor(-1))).ToString(), "<unknown>");
  EXPECT_THROW(ConstantValueAsShape(ConstInts({2, -3})), Error);
}

TEST_F(ConstantValueTest, CostIsBounded) {
  // Each node reads the one before twice: following all paths would take 2^60 steps.
  Output x = Element(ShapeOf(Input({1, 2})), 0);
  for (int i = 0; i < 60; ++i) x = Binary("Mul", x, x);
  EXPECT_FALSE(ConstantValue(x));
}

}  // namespace
}  // namespace sextant
