// Synchronous training: chief, workers and parameter servers in this process, over gRPC.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sextant/base/free_ports.h"
#include "sextant/dist/placement.h"
#include "sextant/dist/training_task.h"
#include "sextant/runtime/cluster.h"
#include "sextant/sextant.h"

namespace sextant::dist {
namespace {

using train::Optimizer;

constexpr int kRows = 6, kWidth = 3;

// A table of rows that batches look up, and a dense layer on them.
struct SyncModel {
  SyncModel() {
    ids = Placeholder(DType::kInt32, {4}, "ids");
    table = Variable("table", Ramp({kRows, kWidth}, 0.1f));
    w = Variable("w", Ramp({kWidth, 2}, 0.2f));
    b = Variable("b", Ramp({2}, -0.3f));
  }
  static Tensor Ramp(const Shape& shape, float first) {
    Tensor values(DType::kFloat, shape);
    for (int64_t i = 0; i < values.num_elements(); ++i)
      values.data<float>()[i] = first + 0.07f * static_cast<float>(i);
    return values;
  }
  Output Loss(Output batch) const {
    const Output rows = Gather(table.value(), batch);
    return Mean(Square(Tanh(MatMul(rows, w.value()) + b.value())), {0, 1});
  }

  Output ids;
  Variable table, w, b;
};

// Of worker and step: with rows that are looked up twice, and rows that both workers look up.
Tensor Batch(int rank, int64_t step) {
  Tensor batch(DType::kInt32, Shape{4});
  for (int64_t i = 0; i < 4; ++i) {
    batch.data<int32_t>()[i] =
        static_cast<int32_t>((step * 5 + rank * 3 + (i == 3 ? 0 : i * (rank + 1))) % kRows);
  }
  return batch;
}

using MakeOptimizer = std::function<Optimizer()>;
using Values = std::map<std::string, Tensor>;

Values ReadAll(Graph& graph, Session& session) {
  const GraphScope use(graph);
  Values values;
  for (const Variable& variable : CollectedVariables()) {
    if (variable.name() != "sextant/run_state")
      values[variable.name()] = session.Run(variable.value());
  }
  return values;
}

// One process that averages the gradients of two batches.
Values Reference(const MakeOptimizer& make, int64_t steps) {
  Graph graph;
  const GraphScope use(graph);
  const Variable step = train::GetOrCreateGlobalStep();
  const SyncModel model;
  const Output other = Placeholder(DType::kInt32, {4}, "other");
  const Optimizer optimizer = make();
  const auto a = optimizer.ComputeGradients(model.Loss(model.ids));
  const auto b = optimizer.ComputeGradients(model.Loss(other));
  const auto add_up = [](const IndexedSlices& slices) {
    const UniqueOutputs rows = Unique(slices.indices);
    return std::pair(UnsortedSegmentSum(slices.values, rows.index, Squeeze(ShapeOf(rows.y))),
                     rows.y);
  };
  std::vector<train::GradientAndVariable> means;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].gradient.sparse()) {
      means.push_back({(a[i].gradient.dense() + b[i].gradient.dense()) * 0.5, a[i].variable});
      continue;
    }
    const auto [values_a, rows_a] = add_up(a[i].gradient.slices());
    const auto [values_b, rows_b] = add_up(b[i].gradient.slices());
    means.push_back({IndexedSlices{Concat({values_a, values_b}, 0) * 0.5,
                                   Concat({rows_a, rows_b}, 0), a[i].gradient.slices().dense_shape},
                     a[i].variable});
  }
  const Operation train = optimizer.ApplyGradients(means, step);
  train::MonitoredSession session(graph, {});
  for (int64_t s = 0; s < steps; ++s)
    session.Run({}, {{model.ids, Batch(0, s)}, {other, Batch(1, s)}}, {train});
  return ReadAll(graph, session.session());
}

struct TrainerResult {
  int64_t steps = 0;  // that it ran
  int64_t global_step = 0;
  Values values;  // of the chief
};

// A cluster in this process. Servers serve until the chief has finished.
class SyncCluster {
 public:
  SyncCluster(int trainers, int num_ps, std::optional<int64_t> max_steps,
              std::chrono::milliseconds lease = std::chrono::seconds(20))
      : num_ps_(num_ps), max_steps_(max_steps), lease_(lease) {
    const std::vector<int> ports = FreePorts(trainers + num_ps);
    const auto address = [&](int i) { return "127.0.0.1:" + std::to_string(ports[i]); };
    jobs_["chief"] = {address(0)};
    for (int i = 1; i < trainers; ++i) jobs_["worker"].push_back(address(i));
    for (int i = 0; i < num_ps; ++i) jobs_["ps"].push_back(address(trainers + i));
    for (int i = 0; i < num_ps; ++i)
      servers_.emplace_back(
          [this, i] { OpenTrainingTask(Options("ps", i))->Serve([] { return false; }); });
  }
  ~SyncCluster() {
    for (std::thread& server : servers_) server.join();
  }

  ClusterTaskOptions Options(const std::string& job, int index) const {
    ClusterTaskOptions options{.jobs = jobs_,
                               .job = job,
                               .index = index,
                               .address = jobs_.at(job)[index],
                               .trainers = {{"chief", 0}},
                               .num_ps = num_ps_,
                               .max_steps = max_steps_,
                               .lease = lease_};
    if (const auto workers = jobs_.find("worker"); workers != jobs_.end()) {
      for (size_t i = 0; i < workers->second.size(); ++i)
        options.trainers.emplace_back("worker", static_cast<int>(i));
    }
    if (job != "ps") options.rank = job == "chief" ? 0 : index + 1;
    return options;
  }
  std::shared_ptr<Cluster> Open(int rank) const {
    return OpenTrainingTask(rank == 0 ? Options("chief", 0) : Options("worker", rank - 1));
  }

  // Trains until the training stops or `data` steps of its own are done. "before" is called before
  // each step.
  TrainerResult Train(int rank, const MakeOptimizer& make, int64_t data = INT64_MAX,
                      const std::function<void(int64_t)>& before = {}) const {
    const std::shared_ptr<Cluster> cluster = Open(rank);
    TrainerResult result;
    {
      Graph graph;
      const GraphScope use(graph);
      const Variable step = train::GetOrCreateGlobalStep();
      const SyncModel model;
      const Operation train = make().Minimize(model.Loss(model.ids), {.global_step = step});
      train::MonitoredSession session(graph, {.cluster = cluster, .place = [this](Graph& g) {
                                                PlaceVariables(g, {.num_ps = num_ps_});
                                              }});
      while (!session.ShouldStop() && result.steps < data) {
        if (before) before(result.steps);
        session.Run({}, {{model.ids, Batch(rank, result.steps)}}, {train});
        ++result.steps;
      }
      if (!session.ShouldStop()) cluster->EndOfData();
      if (rank == 0) {
        while (!cluster->AwaitOthers(std::chrono::seconds(60))) continue;
        result.values = ReadAll(graph, session.session());
        result.global_step = result.values.at("global_step").scalar<int64_t>();
        cluster->Finish();
      }
    }
    cluster->Leave();
    return result;
  }

  // All trainers at once.
  std::vector<TrainerResult> TrainAll(const MakeOptimizer& make,
                                      const std::vector<int64_t>& data) const {
    std::vector<TrainerResult> results(data.size());
    std::vector<std::thread> trainers;
    for (size_t rank = 0; rank < data.size(); ++rank) {
      trainers.emplace_back(
          [&, rank] { results[rank] = Train(static_cast<int>(rank), make, data[rank]); });
    }
    for (std::thread& trainer : trainers) trainer.join();
    return results;
  }

 private:
  const int num_ps_;
  const std::optional<int64_t> max_steps_;
  const std::chrono::milliseconds lease_;
  std::map<std::string, std::vector<std::string>> jobs_;
  std::vector<std::thread> servers_;
};

MakeOptimizer Sync(MakeOptimizer make, int aggregate, int total, bool deterministic = false) {
  return [=] {
    return train::SyncReplicas(make(), {.replicas_to_aggregate = aggregate,
                                        .total_num_replicas = total,
                                        .deterministic = deterministic});
  };
}

constexpr int64_t kNoLimit = INT64_MAX;

const std::map<std::string, MakeOptimizer> kOptimizers = {
    {"sgd", [] { return train::GradientDescent({.learning_rate = 0.5f}); }},
    {"momentum", [] { return train::Momentum({.learning_rate = 0.2f, .momentum = 0.9f}); }},
    {"adam", [] { return train::Adam({.learning_rate = 0.05f}); }}};

class SynchronousTest : public testing::TestWithParam<std::string> {};

TEST_P(SynchronousTest, TwoWorkersEqualOneProcessThatAverages) {
  const MakeOptimizer& make = kOptimizers.at(GetParam());
  constexpr int64_t kSteps = 12;
  const SyncCluster cluster(2, 2, kSteps);
  const auto results =
      cluster.TrainAll(Sync(make, 2, 2, /*deterministic=*/true), {kNoLimit, kNoLimit});
  EXPECT_EQ(results[0].steps, kSteps);
  EXPECT_EQ(results[1].steps, kSteps);
  EXPECT_EQ(results[0].global_step, kSteps);
  const Values expected = Reference(make, kSteps);
  ASSERT_EQ(results[0].values.size(), expected.size());
  for (const auto& [name, value] : expected)
    EXPECT_TRUE(results[0].values.at(name).Identical(value)) << name;
}
INSTANTIATE_TEST_SUITE_P(Optimizers, SynchronousTest, testing::Values("sgd", "momentum", "adam"),
                         [](const auto& test) { return test.param; });

const MakeOptimizer kSgd = kOptimizers.at("sgd");

TEST(SynchronousClusterTest, OneWorkerContributesSeveralTimes) {
  const SyncCluster cluster(1, 1, 5);
  const auto results = cluster.TrainAll(Sync(kSgd, 2, 1), {kNoLimit});
  EXPECT_EQ(results[0].steps, 10);
  EXPECT_EQ(results[0].global_step, 5);
}

// The third worker stays in its first step until most of the training is over.
TEST(SynchronousClusterTest, BackupsMayBeSlow) {
  const SyncCluster cluster(3, 2, 6);
  const MakeOptimizer make = Sync(kSgd, 2, 3);
  std::mutex mutex;
  std::condition_variable changed;
  bool begun = false, released = false;
  TrainerResult slow, chief;
  std::thread straggler([&] {
    slow = cluster.Train(2, make, kNoLimit, [&](int64_t step) {
      if (step > 0) return;
      std::unique_lock lock(mutex);
      begun = true;
      changed.notify_all();
      changed.wait(lock, [&] { return released; });
    });
  });
  std::thread worker([&] { cluster.Train(1, make); });
  chief = cluster.Train(0, make, kNoLimit, [&](int64_t step) {
    std::unique_lock lock(mutex);
    if (step == 0) changed.wait(lock, [&] { return begun; });
    if (step < 4) return;
    released = true;
    changed.notify_all();
  });
  worker.join();
  straggler.join();
  EXPECT_EQ(chief.global_step, 6);
  EXPECT_GE(chief.steps, 4);
  EXPECT_LE(slow.steps, 4);
}

// Of four workers two have little data; three gradients are needed for a step.
TEST(SynchronousClusterTest, TheRestFillTheStepWhenDataEndsUnevenly) {
  const SyncCluster cluster(4, 1, 8);
  const auto results = cluster.TrainAll(Sync(kSgd, 3, 4), {kNoLimit, kNoLimit, 2, 1});
  EXPECT_EQ(results[0].global_step, 8);
  EXPECT_LE(results[2].steps, 2);
  EXPECT_LE(results[3].steps, 1);
  EXPECT_GE(results[0].steps + results[1].steps + results[2].steps + results[3].steps, 24);
}

TEST(SynchronousClusterTest, ItEndsWhenNobodyHasData) {
  const SyncCluster cluster(2, 1, {});
  const auto results = cluster.TrainAll(Sync(kSgd, 2, 2), {3, 5});
  EXPECT_EQ(results[0].steps, 3);
  EXPECT_EQ(results[1].steps, 5);
  EXPECT_EQ(results[0].global_step, 4);  // of 8 gradients
}

// A worker that takes a token and is not heard of again.
TEST(SynchronousClusterTest, TheTokenOfADeadWorkerIsUsedByAnother) {
  const SyncCluster cluster(2, 1, 5, std::chrono::milliseconds(1000));
  const MakeOptimizer make = Sync(kSgd, 2, 2);
  std::mutex mutex;
  std::condition_variable changed;
  bool dead = false;
  std::thread chief([&] {
    const TrainerResult result = cluster.Train(0, make, kNoLimit, [&](int64_t step) {
      if (step != 1) return;
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return dead; });
    });
    EXPECT_EQ(result.global_step, 5);
    EXPECT_GE(result.steps, 8);  // the other one did at most two
  });
  {
    const std::shared_ptr<Cluster> worker = cluster.Open(1);
    Graph graph;
    const GraphScope use(graph);
    train::GetOrCreateGlobalStep();
    const SyncModel model;
    const Operation train =
        make().Minimize(model.Loss(model.ids), {.global_step = train::GetOrCreateGlobalStep()});
    train::MonitoredSession session(
        graph, {.cluster = worker, .place = [](Graph& g) { PlaceVariables(g, {.num_ps = 1}); }});
    session.Run({}, {{model.ids, Batch(1, 0)}}, {train});  // and takes the next token
  }                                                        // without leaving
  {
    const std::lock_guard lock(mutex);
    dead = true;
    changed.notify_all();
  }
  chief.join();
}

}  // namespace
}  // namespace sextant::dist
