#include "sextant/train/accumulate_gradients.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable_slices.h"
#include "sextant/runtime/session.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant::train {
namespace {

std::vector<float> Values(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.num_elements()};
}

TEST(AccumulateGradientsTest, UpdatesOnceWithTheMean) {
  Graph graph;
  const GraphScope use(graph);
  const Variable w("w", Tensor(1.0f));
  const Output x = Placeholder(DType::kFloat, PartialShape({}));
  const Variable step = GetOrCreateGlobalStep();
  const Operation train = AccumulateGradients(GradientDescent({.learning_rate = 0.5}), 2)
                              .Minimize(w.value() * x, {.global_step = step});
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  const auto run = [&](float gradient) {
    session.Run({{x, Tensor(gradient)}}, train);
    return session.Run(w.Read()).scalar<float>();
  };
  EXPECT_FLOAT_EQ(run(2), 1);
  EXPECT_EQ(session.Run(step.Read()).scalar<int64_t>(), 0);
  EXPECT_FLOAT_EQ(run(4), 1 - 0.5f * 3);  // (2 + 4) / 2
  EXPECT_EQ(session.Run(step.Read()).scalar<int64_t>(), 1);
  EXPECT_FLOAT_EQ(run(1), -0.5);
  EXPECT_FLOAT_EQ(run(-2), -0.5f - 0.5f * -0.5f);
  EXPECT_EQ(session.Run(step.Read()).scalar<int64_t>(), 2);
}

TEST(AccumulateGradientsTest, IsALargerBatch) {
  // Adam on the mean of two gradients, against Adam itself.
  std::vector<float> results[2];
  for (const int parts : {1, 2}) {
    Graph graph;
    const GraphScope use(graph);
    const Variable w("w", Tensor::Of<float>({1, -2}));
    const Output x = Placeholder(DType::kFloat, PartialShape({2}));
    const Operation train = AccumulateGradients(Adam({.learning_rate = 0.1}), parts)
                                .Minimize(SumOfAll(w.value() * w.value() * x));
    Session session(graph);
    session.Run(GlobalVariablesInitializer());
    for (int i = 0; i < 5; ++i) {
      const float mean = static_cast<float>(i + 1);
      for (int part = 0; part < parts; ++part) {
        const float one = parts == 1 ? mean : mean + (part == 0 ? 0.5f : -0.5f);
        session.Run({{x, Tensor::Of<float>({one, -one})}}, train);
      }
    }
    results[parts - 1] = Values(session.Run(w.Read()));
    EXPECT_EQ(graph.FindNode("w/Adam") != nullptr, true);
  }
  EXPECT_NEAR(results[0][0], results[1][0], 1e-6);
  EXPECT_NEAR(results[0][1], results[1][1], 1e-6);
}

TEST(AccumulateGradientsTest, LeavesRowsAloneThatWereNotTouched) {
  Graph graph;
  const GraphScope use(graph);
  const Variable table("table", Tensor::Of<float>(Shape{4, 2}, {1, 1, 2, 2, 3, 3, 4, 4}));
  const Output ids = Placeholder(DType::kInt64, PartialShape({2}));
  const Operation train = AccumulateGradients(Momentum({.learning_rate = 1, .momentum = 0.5}), 2)
                              .Minimize(SumOfAll(ResourceGather(table.handle(), ids)));
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  const auto run = [&](int64_t a, int64_t b) {
    session.Run({{ids, Tensor::Of<int64_t>({a, b})}}, train);
    return Values(session.Run(table.Read()));
  };
  EXPECT_EQ(run(0, 0), (std::vector<float>{1, 1, 2, 2, 3, 3, 4, 4}));
  // Row 0: (2 + 0) / 2 = 1, row 1 and 2: 1 / 2.
  EXPECT_EQ(run(1, 2), (std::vector<float>{0, 0, 1.5, 1.5, 2.5, 2.5, 4, 4}));
  EXPECT_EQ(run(3, 3), (std::vector<float>{0, 0, 1.5, 1.5, 2.5, 2.5, 4, 4}));
  // Only row 3 moves: the momentum of the others waits until they are met again.
  EXPECT_EQ(run(3, 3), (std::vector<float>{0, 0, 1.5, 1.5, 2.5, 2.5, 2, 2}));
}

TEST(AccumulateGradientsTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(AccumulateGradients(Adam(), 0), Error);
  EXPECT_THROW(AccumulateGradients({}, 2), Error);
  Graph graph;
  const GraphScope use(graph);
  const Variable w("w", Tensor(1.0f));
  const Variable other("other", Tensor(1.0f));
  EXPECT_THROW(AccumulateGradients(Adam(), 2).Minimize(w.value() * 1.0, {.variables = {other}}),
               Error);
}

}  // namespace
}  // namespace sextant::train
