#include "sextant/runtime/list_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <thread>

#include "sextant/sextant.h"

namespace sextant {
namespace {

SessionOptions With(ParallelSteps use) {
  SessionOptions options;
  options.optimizer.parallel_steps = use;
  return options;
}

class ListSchedulerTest : public testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};
};

// Towers with dropout, sparse and dense updates and a loop: hundreds of steps, many of them free to
// run at the same time.
struct Model {
  Model()
      : x(Placeholder(DType::kFloat, PartialShape{-1, 6})),
        ids(Placeholder(DType::kInt32, PartialShape{-1})) {
    std::vector<Output> outputs;
    for (int i = 0; i < 6; ++i) {
      const std::string n = std::to_string(i);
      variables.emplace_back("w" + n, RandomUniform({6, 5}, {.seed = 10 + i}));
      variables.emplace_back("t" + n, RandomUniform({9, 5}, {.seed = 30 + i}));
      const Variable &w = variables[variables.size() - 2], &t = variables.back();
      const Output keep = Cast(
          GreaterEqual(RandomUniform({5}, {.seed = 50 + i}), Const(Tensor(0.3f))), DType::kFloat);
      outputs.push_back(Tanh(MatMul(x, w)) * keep + Gather(t, ids));
    }
    const Output total = AddN(outputs);
    const auto loop =
        While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(3))); },
              [](const std::vector<Output>& v) {
                return std::vector<Output>{v[0] + 1, Tanh(v[1] * 1.5)};
              },
              {Const(Tensor(0)), total});
    loss = Mean(Square(loop[1] - 0.25), {0, 1});
    step = train::Momentum({.learning_rate = 0.05}).Minimize(loss);
  }
  Output x, ids, loss;
  std::vector<Variable> variables;
  Operation step;
};

Tensor Filled(float value) {
  Tensor tensor(DType::kFloat, Shape{4, 6});
  std::ranges::fill(std::span(tensor.data<float>(), tensor.num_elements()), value);
  return tensor;
}

std::vector<Tensor> Train(const Graph& graph, const Model& model, ParallelSteps use, int steps) {
  Session session(graph, With(use));
  session.Run(GlobalVariablesInitializer());
  const Tensor ids = Tensor::Of<int32_t>({1, 3, 3, 8});
  std::vector<Tensor> results;
  for (int i = 0; i < steps; ++i) {
    const Tensor x = Filled(0.01f * static_cast<float>(i));
    results.push_back(session.Run({{model.x, x}, {model.ids, ids}}, {model.loss}, {model.step})[0]);
  }
  for (const Variable& variable : model.variables) results.push_back(session.Run(variable.Read()));
  return results;
}

TEST_F(ListSchedulerTest, TrainingGivesTheBitsOfRunningStepByStep) {
  const Model model;
  const auto expected = Train(graph_, model, ParallelSteps::kNever, 60);
  EXPECT_FALSE(expected.back().Identical(Train(graph_, model, ParallelSteps::kNever, 59).back()));
  for (const ParallelSteps use : {ParallelSteps::kAlways, ParallelSteps::kWhenFaster}) {
    const auto found = Train(graph_, model, use, 60);
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_TRUE(found[i].Identical(expected[i])) << i;
  }
}

Operation AssignAdd(const Variable& variable, Output value) {
  return Operation(variable.AssignAdd(value).node());
}

TEST_F(ListSchedulerTest, WhatWasReadBeforeAnAssignmentStaysAndWhatComesAfterSeesIt) {
  const Variable v("v", Const(Tensor(1.0f)));
  std::vector<Output> fetches;
  Output before = v.Read();
  for (int i = 0; i < 20; ++i) {
    const Output late_user = before * static_cast<double>(i);
    const Operation add = AssignAdd(v, before + 1.0);
    ControlDependencies after({add});
    before = Identity(v.Read());
    fetches.push_back(late_user);
    fetches.push_back(before);
  }
  Session session(graph_, With(ParallelSteps::kAlways));
  for (int run = 0; run < 50; ++run) {
    session.Run(GlobalVariablesInitializer());
    const auto values = session.Run(fetches);
    float value = 1;
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(values[2 * i].scalar<float>(), value * static_cast<float>(i));
      value = 2 * value + 1;
      ASSERT_EQ(values[2 * i + 1].scalar<float>(), value);
    }
  }
}

TEST_F(ListSchedulerTest, TheFirstErrorIsTheOneStepByStep) {
  const Output zero = Placeholder(DType::kInt32, PartialShape{});
  std::vector<Output> fetches;
  for (int i = 0; i < 40; ++i) fetches.push_back(FloorDiv(Const(Tensor(i)), zero));
  const auto message = [&](ParallelSteps use) -> std::string {
    Session session(graph_, With(use));
    try {
      session.Run({{zero, Tensor(0)}}, fetches);
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  const std::string expected = message(ParallelSteps::kNever);
  EXPECT_NE(expected.find("FloorDiv"), std::string::npos) << expected;
  for (int i = 0; i < 50; ++i) ASSERT_EQ(message(ParallelSteps::kAlways), expected);
}

TEST_F(ListSchedulerTest, LoopsThatWorkersShareGiveTheSameBits) {
  const Output x = Placeholder(DType::kFloat, PartialShape{256, 192});
  const auto numbers = [](const Shape& shape, float scale) {
    Tensor values(DType::kFloat, shape);
    for (int64_t i = 0; i < values.num_elements(); ++i) {
      values.data<float>()[i] = scale * (static_cast<float>(i % 97) / 50 - 1);
    }
    return values;
  };
  const Output w = Const(numbers({192, 192}, 0.1f));
  Output deep = x;
  for (int i = 0; i < 8; ++i) deep = Tanh(MatMul(deep, w));
  std::vector<Output> fetches = {deep, Sum(deep * deep, {0}), Sum(deep, {1})};
  for (int i = 0; i < 20; ++i) fetches.push_back(Sum(x * static_cast<float>(i), {0}));
  const Tensor fed = numbers({256, 192}, 1);
  const auto run = [&](ParallelSteps use, int times) {
    Session session(graph_, With(use));
    std::vector<Tensor> values;
    for (int i = 0; i < times; ++i) values = session.Run({{x, fed}}, fetches);
    return values;
  };
  const std::vector<Tensor> expected = run(ParallelSteps::kNever, 1),
                            found = run(ParallelSteps::kAlways, 100);
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(found[i].Identical(expected[i])) << i;
  }
}

TEST_F(ListSchedulerTest, AFailedRunLeavesTheSessionUsable) {
  const Output x = Placeholder(DType::kInt32, PartialShape{});
  std::vector<Output> parts;
  for (int i = 1; i <= 30; ++i) parts.push_back(FloorDiv(Const(Tensor(60 * i)), x + i));
  const Output sum = AddN(parts);
  Session session(graph_, With(ParallelSteps::kAlways));
  for (int run = 0; run < 20; ++run) {
    EXPECT_THROW(session.Run({{x, Tensor(-7)}}, sum), Error);
    EXPECT_EQ(session.Run({{x, Tensor(0)}}, sum).scalar<int32_t>(), 30 * 60);
  }
}

TEST_F(ListSchedulerTest, AnEndlessLoopOfAWorkerEndsAtTheDeadline) {
  const auto loop =
      While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(1.0f))); },
            [](const std::vector<Output>& v) { return std::vector<Output>{v[0] * 0.5}; },
            {Const(Tensor(0.5f))});
  const Output x = Placeholder(DType::kFloat, PartialShape{3});
  std::vector<Output> fetches = {loop[0]};
  for (int i = 0; i < 30; ++i)
    fetches.push_back(MatMul(Reshape(x, {1, 3}), Reshape(x + i, {3, 1})));
  Session session(graph_, With(ParallelSteps::kAlways));
  try {
    session.Run({{x, Tensor::Of<float>({1, 2, 3})}}, fetches, {},
                {.deadline = std::chrono::milliseconds(30)});
    FAIL() << "the loop ended";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kDeadlineExceeded) << e.what();
  }
}

TEST_F(ListSchedulerTest, ConcurrentRunsDoNotDisturbEachOther) {
  const Output x = Placeholder(DType::kFloat, PartialShape{2, 2});
  std::vector<Output> parts;
  for (int i = 0; i < 20; ++i) parts.push_back(MatMul(x + i, x) - x);
  const Output y = AddN(parts);
  Session session(graph_, With(ParallelSteps::kAlways));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const float v = static_cast<float>(t);
      for (int run = 0; run < 200; ++run) {
        const Tensor fed = Tensor::Of<float>(Shape{2, 2}, {v, 0, 0, v});
        // The sum over i of (x + i) x - x, where x is v times the unit matrix.
        const float outside = 190 * v, inside = 20 * (v * v - v) + outside;
        ASSERT_TRUE(
            session.Run({{x, fed}}, y)
                .Identical(Tensor::Of<float>(Shape{2, 2}, {inside, outside, outside, inside})));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sextant
