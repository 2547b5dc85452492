#include "sextant/train/cancellation_hooks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/random/random.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/global_step.h"
#include "sextant/train/monitored_session.h"

namespace sextant::train {
namespace {

TEST(CancellationHooksTest, TheLoopEndsAfterTheStepInWhichItIsCancelled) {
  Graph graph;
  const GraphScope use(graph);
  const Operation step = GetOrCreateGlobalStep().AssignAdd(Const(Tensor(int64_t{1})));
  const auto token = std::make_shared<CancellationToken>();
  MonitoredSession session(graph, {.hooks = {StopOnCancel(token)}});
  session.Run(step);
  EXPECT_FALSE(session.ShouldStop());
  token->Cancel();
  session.Run(step);
  EXPECT_TRUE(session.ShouldStop());
  EXPECT_EQ(session.global_step(), 2);
}

// 0, 1, 2 …; before the number "stall", if any, it cancels the token and waits until the walk is
// cancelled.
data::Dataset Numbers(std::optional<int64_t> stall = {}, CancellationToken* token = nullptr) {
  return data::FromGenerator(
      [stall, token] {
        return [stall, token, next = int64_t{0}]() mutable -> std::optional<data::Element> {
          if (next == stall) {
            token->Cancel();
            SleepUntil(std::chrono::steady_clock::now() + std::chrono::minutes(5),
                       CancellationScope::Current());
          }
          return data::Element{{"value", Tensor(next++)}};
        };
      },
      "numbers", data::ElementSpec{{"value", DType::kInt64, Shape()}});
}

// A model that adds up its input, two numbers a step, and draws random numbers.
struct Adder {
  explicit Adder(const data::Dataset& dataset)
      : use(graph), iterator(data::OneShotIterator(dataset.Batch(2))) {
    graph.set_seed(5);
    const Output batch = iterator.GetNext()["value"];
    const Variable sum("sum", Tensor(int64_t{0}));
    noise = RandomUniform({1});
    total = sum.value();
    step = Group({sum.AssignAdd(Sum(batch, {0})), Operation(noise),
                  GetOrCreateGlobalStep().AssignAdd(Const(Tensor(int64_t{1})))});
  }
  Graph graph;
  GraphScope use;
  data::GraphIterator iterator;
  Output total, noise;
  Operation step;
};

TEST(CancellationHooksTest, AWaitForInputIsCancelledAndTheLastStepIsSaved) {
  const std::string directory = std::string(SEXTANT_BINARY_DIR) + "/await_input_test";
  std::filesystem::remove_all(directory);
  int64_t steps = 0;  // the input is read ahead, so it may end before the third
  const CheckpointOptions checkpoints{.every = {.steps = 100}};
  {
    const auto token = std::make_shared<CancellationToken>();
    const CancellationScope scope(token.get());
    Adder model(Numbers(7, token.get()));  // in the middle of the fourth step
    MonitoredSession session(model.graph,
                             {.checkpoint_dir = directory,
                              .hooks = {AwaitInput(model.iterator.handle(), {.token = token})},
                              .checkpoints = checkpoints});
    Code code = Code::kOk;
    while (code == Code::kOk) {
      code = StatusOf([&] { session.Run(model.step); }).code();
      if (code == Code::kOk) ++steps;
    }
    EXPECT_EQ(code, Code::kCancelled);
    EXPECT_LE(steps, 3);
    EXPECT_EQ(session.SaveLast(), fmt::format("{}/model.ckpt-{}", directory, steps));
  }
  Adder model(Numbers());
  MonitoredSession session(model.graph, {.checkpoint_dir = directory, .checkpoints = checkpoints});
  EXPECT_EQ(session.global_step(), steps);
  const auto sum_below = [](int64_t n) { return n * (n - 1) / 2; };
  EXPECT_EQ(session.session().Run(model.total).AsInt64(), sum_below(2 * steps));
  const float resumed = session.Run({model.noise}, {}, {model.step})[0].flat<float>()[0];
  EXPECT_EQ(session.session().Run(model.total).AsInt64(), sum_below(2 * steps + 2));
  Adder whole(Numbers());
  MonitoredSession uninterrupted(whole.graph, {});
  float expected = 0;
  for (int64_t i = 0; i <= steps; ++i) {
    expected = uninterrupted.Run({whole.noise}, {}, {whole.step})[0].flat<float>()[0];
  }
  EXPECT_EQ(resumed, expected);
  std::filesystem::remove_all(directory);
}

TEST(CancellationHooksTest, AnElementThatComesSoonIsStillUsed) {
  const auto token = std::make_shared<CancellationToken>();
  const CancellationScope scope(token.get());
  int64_t calls = 0;
  Adder model(data::FromGenerator(
      [&] {
        return [&]() -> std::optional<data::Element> {
          if (calls == 6) token->Cancel();
          return data::Element{{"value", Tensor(calls++)}};
        };
      },
      "soon", data::ElementSpec{{"value", DType::kInt64, Shape()}}));
  MonitoredSession session(model.graph,
                           {.hooks = {AwaitInput(model.iterator.handle(), {.token = token})}});
  int64_t steps = 0;
  for (; !token->cancelled(); ++steps) session.Run(model.step);
  session.Run(model.step);
  EXPECT_EQ(session.session().Run(model.total).AsInt64(), (2 * steps + 2) * (2 * steps + 1) / 2);
}

TEST(CancellationHooksTest, UnusableDataIsRefusedBeforeAnythingIsSaved) {
  const std::string directory = std::string(SEXTANT_BINARY_DIR) + "/unusable_input_test";
  std::filesystem::remove_all(directory);
  const auto code_of = [&](const data::Dataset& numbers) {
    Adder model(numbers);
    return StatusOf([&] {
             const MonitoredSession session(
                 model.graph,
                 {.checkpoint_dir = directory,
                  .hooks = {AwaitInput(model.iterator.handle(), {.refuse_unusable = true})},
                  .checkpoints = {.every = {.steps = 100}}});
           })
        .code();
  };
  EXPECT_EQ(code_of(data::Range(0)), Code::kInvalidArgument);
  const auto damaged = [] {
    return []() -> std::optional<data::Element> { throw DataLoss("a record is damaged"); };
  };
  EXPECT_EQ(code_of(data::FromGenerator(damaged, "damaged",
                                        data::ElementSpec{{"value", DType::kInt64, Shape()}})),
            Code::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(directory));
}

}  // namespace
}  // namespace sextant::train
