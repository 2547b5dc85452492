#include "sextant/ops/math/binary.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/broadcast_plan.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

Tensor Eval(Output (*op)(Output, Output), const Tensor& x, const Tensor& y) {
  Graph graph;
  GraphScope use(graph);
  const Output z = op(Const(x), Const(y));
  return Session(graph).Run(z);
}

std::string MessageOf(Output (*op)(Output, Output), const Tensor& x, const Tensor& y,
                      Code code = Code::kInvalidArgument) {
  try {
    Eval(op, x, y);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code);
    return e.message();
  }
  return "no error";
}

TEST(BroadcastPlanTest, MergesDimensionsThatRepeatAlike) {
  const BroadcastPlan plan(Shape{2, 3, 4, 5}, Shape{4, 5});
  EXPECT_EQ(plan.output(), (Shape{2, 3, 4, 5}));
  EXPECT_EQ(plan.num_rows(), 6);
  EXPECT_EQ(plan.row_size(), 20);
  EXPECT_EQ(plan.step(0), 1);
  EXPECT_EQ(plan.step(1), 1);
}

TEST(BroadcastPlanTest, WalksRowsFromAnyStart) {
  const BroadcastPlan plan(Shape{2, 1, 3}, Shape{4, 1});
  EXPECT_EQ(plan.output(), (Shape{2, 4, 3}));
  std::vector<std::vector<int64_t>> rows;
  plan.ForRows(3, 6, [&](int64_t first, const int64_t* offsets) {
    rows.push_back({first, offsets[0], offsets[1]});
  });
  EXPECT_EQ(rows, (std::vector<std::vector<int64_t>>{{9, 0, 3}, {12, 3, 0}, {15, 3, 1}}));
  EXPECT_EQ(plan.step(1), 0);
}

// Shapes that are alike, and single elements, make one loop whatever their rank.
TEST(BroadcastPlanTest, EqualShapesAndSingleElementsAreOneRow) {
  const BroadcastPlan plan(Shape{2, 1, 3}, Shape{1}, Shape{2, 1, 3});
  EXPECT_EQ(plan.output(), (Shape{2, 1, 3}));
  EXPECT_EQ(plan.num_rows(), 1);
  EXPECT_EQ(plan.row_size(), 6);
  EXPECT_EQ(plan.step(0), 1);
  EXPECT_EQ(plan.step(1), 0);
  EXPECT_EQ(plan.step(2), 1);
  // A single element of a higher rank gives the output its rank.
  EXPECT_EQ(BroadcastPlan(Shape{3}, Shape{1, 1}).output(), (Shape{1, 3}));
  EXPECT_EQ(BroadcastPlan(Shape{}, Shape{1, 1}).output(), (Shape{1, 1}));
  EXPECT_EQ(BroadcastPlan(Shape{1}, Shape{0, 2}).output(), (Shape{0, 2}));
  EXPECT_EQ(BroadcastPlan(Shape{1}, Shape{0, 2}).num_rows(), 0);
  EXPECT_THROW(BroadcastPlan(Shape{2, 3}, Shape{3, 2}), Error);
}

TEST(BroadcastPlanTest, EmptyAndScalarShapes) {
  EXPECT_EQ(BroadcastPlan(Shape{0, 3}, Shape{1, 3}).num_rows(), 0);
  EXPECT_EQ(BroadcastPlan(Shape{0, 3}, Shape{1, 3}).output(), (Shape{0, 3}));
  EXPECT_EQ(BroadcastPlan(Shape{}, Shape{}).num_rows(), 1);
  EXPECT_THROW(BroadcastPlan(Shape{2}, Shape{3}), Error);
}

TEST(BinaryTest, Broadcasts) {
  const Tensor z = Eval(Add, Tensor::Of<float>({2, 1}, {1, 2}), Tensor::Of<float>({10, 20, 30}));
  EXPECT_TRUE(z.Identical(Tensor::Of<float>({2, 3}, {11, 21, 31, 12, 22, 32})));
}

TEST(BinaryTest, JoinsStrings) {
  const Tensor z = Eval(Add, Tensor::Of<std::string>({"a", "b"}), Tensor("c"));
  EXPECT_TRUE(z.Identical(Tensor::Of<std::string>({"ac", "bc"})));
}

TEST(BinaryTest, DividesIntegers) {
  const Tensor x = Tensor::Of<int32_t>({7, -7, 7, -7});
  const Tensor y = Tensor::Of<int32_t>({3, 3, -3, -3});
  EXPECT_TRUE(Eval(FloorDiv, x, y).Identical(Tensor::Of<int32_t>({2, -3, -3, 2})));
  EXPECT_TRUE(Eval(FloorMod, x, y).Identical(Tensor::Of<int32_t>({1, 2, -2, -1})));
  EXPECT_TRUE(Eval(TruncateDiv, x, y).Identical(Tensor::Of<int32_t>({2, -2, -2, 2})));
  EXPECT_TRUE(Eval(TruncateMod, x, y).Identical(Tensor::Of<int32_t>({1, -1, 1, -1})));
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(Eval(Div, Tensor(least), Tensor(-1)).scalar<int32_t>(), least);
  EXPECT_EQ(Eval(FloorMod, Tensor(least), Tensor(-1)).scalar<int32_t>(), 0);
}

TEST(BinaryTest, NamesWhatIsWrong) {
  EXPECT_NE(MessageOf(Div, Tensor(1), Tensor(0)).find("Integer division by zero"),
            std::string::npos);
  const Code internal = Code::kInternal;
  EXPECT_NE(MessageOf(TruncateDiv, Tensor(1), Tensor(0), internal).find("by zero"),
            std::string::npos);
  EXPECT_NE(MessageOf(TruncateMod, Tensor(1), Tensor(0), internal).find("by zero"),
            std::string::npos);
  EXPECT_NE(MessageOf(Pow, Tensor(2), Tensor(-1)).find("negative integer powers"),
            std::string::npos);
  EXPECT_NE(MessageOf(Add, Tensor::Of<float>({1, 2}), Tensor::Of<float>({1, 2, 3})).find("[2]"),
            std::string::npos);
}

TEST(BinaryTest, MaximumKeepsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor z = Eval(Maximum, Tensor::Of<float>({nan, 1, 2}), Tensor::Of<float>({1, nan, 3}));
  EXPECT_TRUE(std::isnan(z.data<float>()[0]));
  EXPECT_TRUE(std::isnan(z.data<float>()[1]));
  EXPECT_EQ(z.data<float>()[2], 3.0f);
}

TEST(BinaryTest, OperatorsTakeNumbersOnEitherSide) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Const(Tensor::Of<float>({1, 2}));
  const Output y = -(2.0 * x + 1.0) / 2.0 - 3.0;
  EXPECT_TRUE(Session(graph).Run(y).Identical(Tensor::Of<float>({-4.5f, -5.5f})));
  const Output quotient = Const(Tensor(7)) / Const(Tensor(2));
  EXPECT_EQ(Session(graph).Run(quotient).scalar<double>(), 3.5);
}

TEST(BinaryTest, GradientsAreSummedOverWhatWasRepeated) {
  for (const bool shapes_known : {true, false}) {
    Graph graph;
    GraphScope use(graph);
    const Output x = Placeholder(DType::kFloat, shapes_known ? PartialShape{2, 3} : PartialShape());
    const Output b = Placeholder(DType::kFloat, shapes_known ? PartialShape{3} : PartialShape());
    const auto grads = Gradients(x * b, {x, b});
    Session session(graph);
    const auto values = session.Run(
        {{x, Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, {b, Tensor::Of<float>({7, 8, 9})}},
        {grads[0].dense(), grads[1].dense()});
    EXPECT_TRUE(values[0].Identical(Tensor::Of<float>({2, 3}, {7, 8, 9, 7, 8, 9})));
    EXPECT_TRUE(values[1].Identical(Tensor::Of<float>({5, 7, 9})));
  }
}

}  // namespace
}  // namespace sextant
