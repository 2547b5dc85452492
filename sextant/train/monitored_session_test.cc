#include "sextant/train/monitored_session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/nn/layers.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/check_numerics.h"
#include "sextant/train/global_step.h"
#include "sextant/train/hooks.h"
#include "sextant/train/optimizers.h"

namespace sextant::train {
namespace {

class MonitoredSessionTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  const std::string directory_ = std::string(SEXTANT_BINARY_DIR) + "/monitored_session_test." +
                                 testing::UnitTest::GetInstance()->current_test_info()->name();
};

// A model with all that resuming must not lose: shuffled data, dropout, slots, a step.
struct LinearModel {
  Graph graph;
  Output loss;
  Operation step;

  LinearModel() {
    const GraphScope use(graph);
    graph.set_seed(7);
    std::vector<float> numbers(40);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) / 40;
    const auto dataset = data::FromTensorSlices({{"x", Tensor::FromVector(numbers)}})
                             .Shuffle(16, {.seed = 3})
                             .Repeat()
                             .Batch(4, {.drop_remainder = true});
    const Output x = Reshape(data::OneShotIterator(dataset).GetNext()["x"], {4, 1});
    Output y = layers::Dense(x, {.units = 8});
    y = layers::Dropout(y, {.rate = 0.5f, .training = true});
    y = layers::Dense(y, {.units = 1});
    loss = losses::MeanSquaredError(x * 2.0, y);
    step = Adam({.learning_rate = 0.05}).Minimize(loss, {.global_step = GetOrCreateGlobalStep()});
  }
};

std::vector<float> Losses(LinearModel& model, MonitoredSession& session, int count) {
  std::vector<float> losses;
  for (int i = 0; i < count; ++i) {
    losses.push_back(session.Run({model.loss}, {}, {model.step})[0].scalar<float>());
  }
  return losses;
}

TEST_F(MonitoredSessionTest, ResumesExactly) {
  LinearModel whole;
  MonitoredSession uninterrupted(whole.graph, {});
  const std::vector<float> expected = Losses(whole, uninterrupted, 12);

  std::vector<float> actual;
  for (const int count : {1, 4, 7}) {
    LinearModel model;
    MonitoredSession session(model.graph, {.checkpoint_dir = directory_});
    for (const float loss : Losses(model, session, count)) actual.push_back(loss);
    session.Save(directory_ + "/model.ckpt", static_cast<int64_t>(actual.size()));
  }
  EXPECT_EQ(actual, expected);  // bit for bit
}

// Workers that wait until all variables have values must not see initial ones.
TEST_F(MonitoredSessionTest, RestoresWithoutInitialValues) {
  for (const bool restores : {false, true}) {
    Graph graph;
    const GraphScope use(graph);
    GetOrCreateGlobalStep();
    const Output zero = Const(Tensor(0.0f));
    const Variable w("w", [&] { return restores ? CheckNumerics(1.0f / zero, "initial") : zero; });
    const Variable counts("counts", Tensor(5.0f));
    const Operation set(w.Assign(Const(Tensor(7.0f))).node());
    MonitoredSession session(graph, {.checkpoint_dir = directory_,
                                     .saver = {.leave_out = {counts.handle().node()->name()}}});
    if (restores) {
      const auto values = session.session().Run({w.value(), counts.value()});
      EXPECT_EQ(values[0].scalar<float>(), 7.0f);
      EXPECT_EQ(values[1].scalar<float>(), 5.0f);
    } else {
      session.session().Run(set);
      session.Save(directory_ + "/model.ckpt", 3);
    }
  }
}

TEST_F(MonitoredSessionTest, HooksSeeAndStopTheLoop) {
  LinearModel model;
  int calls = 0, ended = 0;
  std::vector<Tensor> last;
  Output seven;
  {
    const GraphScope use(model.graph);
    seven = Const(Tensor(7.0f));
  }
  class CallCounter : public Hook {
   public:
    CallCounter(int* calls, int* ended, Output fetch)
        : calls_(calls), ended_(ended), fetch_(fetch) {}
    void BeforeRun(RunContext& run) override { run.Fetch(fetch_); }
    void AfterRun(RunContext& run) override {
      ++*calls_;
      EXPECT_EQ(run.Value(fetch_).scalar<float>(), 7.0f);
    }
    void End(Session&) override { ++*ended_; }

   private:
    int *calls_, *ended_;
    Output fetch_;
  };
  MonitoredSession session(
      model.graph, {.hooks = {std::make_shared<CallCounter>(&calls, &ended, seven), StopAtStep(5),
                              FetchAtEnd({seven}, [&](std::vector<Tensor> v) { last = v; })}});
  while (!session.ShouldStop()) session.Run(model.step);
  session.Close();
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(ended, 1);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].scalar<float>(), 7.0f);
  EXPECT_THROW(session.Run(model.step), Error);
}

TEST_F(MonitoredSessionTest, StopsAfterSoManyStepsAlsoWhenResumed) {
  for (const int64_t end : {3, 6}) {
    LinearModel model;
    MonitoredSession session(model.graph,
                             {.checkpoint_dir = directory_, .hooks = {StopAfterSteps(3)}});
    while (!session.ShouldStop()) session.Run(model.step);
    session.Save(directory_ + "/model.ckpt", end);
    EXPECT_EQ(session.session().Run(GetGlobalStep(model.graph).value()).scalar<int64_t>(), end);
  }
}

TEST_F(MonitoredSessionTest, NotANumberIsAnErrorOrTheEnd) {
  for (const bool quietly : {false, true}) {
    Graph graph;
    const GraphScope use(graph);
    GetOrCreateGlobalStep();
    const Output loss = Const(Tensor(std::numeric_limits<float>::quiet_NaN()));
    MonitoredSession session(graph, {.hooks = {StopOnNan(loss, quietly)}});
    if (quietly) {
      session.Run(std::vector<Output>{loss});
      EXPECT_TRUE(session.ShouldStop());
    } else {
      EXPECT_THROW(session.Run(std::vector<Output>{loss}), Error);
    }
  }
}

TEST_F(MonitoredSessionTest, TimelinesAreWritten) {
  LinearModel model;
  MonitoredSession session(model.graph,
                           {.hooks = {ProfileSteps(directory_, {.steps = 2}), StopAtStep(4)}});
  while (!session.ShouldStop()) session.Run(model.step);
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/timeline-1.json"));
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/timeline-2.json"));
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/timeline-3.json"));
}

}  // namespace
}  // namespace sextant::train
