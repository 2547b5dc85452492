#include "sextant/runtime/varying_inputs.h"

#include <gtest/gtest.h>

#include "sextant/sextant.h"
#include "sextant/testing/local_task.h"

namespace sextant {
namespace {

class VaryingInputsTest : public ::testing::Test {
 protected:
  VaryingInputsTest() : use_(graph_) {}
  bool Varies(Output input, const std::vector<Output>& results = {}) {
    return VaryingInputs(graph_, std::vector{input}, results).contains(input);
  }

  Graph graph_;
  GraphScope use_;
};

TEST_F(VaryingInputsTest, RowsOfVariablesAndTheirNumbers) {
  const Variable table("table", Tensor(DType::kFloat, Shape{4, 2}));
  const Output ids = Placeholder(DType::kInt32, {-1}, "ids");
  const Output rows = Placeholder(DType::kFloat, {-1, 2}, "rows");
  const Output gathered = ResourceGather(table.handle(), ids);
  ResourceScatterAdd(table.handle(), ids, rows * 0.5f);
  EXPECT_TRUE(Varies(ids, {gathered}));
  EXPECT_TRUE(Varies(rows, {gathered}));
}

TEST_F(VaryingInputsTest, NotWhereTheGraphKnowsTheShape) {
  const Variable w("w", Tensor::Of<float>({1, 2}));
  const Output gradient = Placeholder(DType::kFloat, {2}, "gradient");
  ResourceApplyGradientDescent(w.handle(), Const(Tensor(0.1f)), gradient);
  EXPECT_FALSE(Varies(gradient));
}

TEST_F(VaryingInputsTest, NotWhatIsComputedWith) {
  const Variable w("w", Tensor(DType::kFloat, Shape{2, 2}));
  const Output x = Placeholder(DType::kFloat, {-1, 2}, "x");
  const Output y = Placeholder(DType::kFloat, {-1, 2}, "y");
  const Output product = MatMul(x, ReadVariable(w.handle()));
  ResourceApplyGradientDescent(w.handle(), Const(Tensor(0.1f)),
                               MatMul(product, y, {.transpose_a = true}));
  EXPECT_FALSE(Varies(x)) << "it meets the value of a variable";
  EXPECT_FALSE(Varies(y, {Square(y)})) << "a result is made of it";
}

// Steps of a training whose batches touch other rows each.
TEST_F(VaryingInputsTest, OnePlanForAllSizes) {
  LocalCluster cluster({"/job:worker/replica:0/task:0", "/job:ps/replica:0/task:0"});
  const DeviceScope here("/job:worker/task:0");
  const Output ids = Placeholder(DType::kInt32, {-1}, "ids");
  Variable table;
  Output rows;
  Operation update;
  {
    const DeviceScope on("/job:ps/task:0");
    table = Variable("table", Tensor::Zeros(DType::kFloat, Shape{100, 2}));
    rows = ResourceGather(table.handle(), ids);
  }
  const Output gradient = Exp(Neg(rows));
  {
    const DeviceScope on("/job:ps/task:0");
    update = ResourceScatterAdd(table.handle(), ids, gradient);
  }
  Session session(graph_, {}, cluster.environment(0));
  session.Run(table.initializer());
  const int before = cluster.plans(1);
  for (int size = 1; size <= 10; ++size) {
    std::vector<int32_t> numbers;
    for (int i = 0; i < size; ++i) numbers.push_back(i);
    session.Run({{ids, Tensor::FromVector(numbers)}}, update);
  }
  EXPECT_EQ(cluster.plans(1) - before, 2);  // of the gather and of the update
  // Row i was changed by the sizes above i.
  const Tensor value = session.Run(table.value());
  float expected = 0;
  for (int i = 0; i < 10; ++i) expected += std::exp(-expected);
  EXPECT_FLOAT_EQ(value.data<float>()[0], expected);
  EXPECT_FLOAT_EQ(value.data<float>()[2 * 9], 1);
  EXPECT_FLOAT_EQ(value.data<float>()[2 * 10], 0);
}

}  // namespace
}  // namespace sextant
