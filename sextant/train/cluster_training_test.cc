// Training with variables on other tasks, all in the process.
#include <gtest/gtest.h>

#include <filesystem>
#include <mutex>
#include <thread>

#include "sextant/runtime/session_target.h"
#include "sextant/sextant.h"
#include "sextant/testing/local_task.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/own_resources.h"

namespace sextant::train {
namespace {

const std::map<std::string, std::vector<std::string>> kSpec = {{"worker", {"a:1", "b:1"}},
                                                               {"ps", {"c:1", "d:1"}}};

// y = w x + b, with w on one server, b and the step on the other.
struct Model {
  Model() {
    const GraphScope use(graph);
    const DeviceScope replica(ReplicaDeviceSetter(kSpec));
    step = GetOrCreateGlobalStep();
    x = Placeholder(DType::kFloat, {-1, 2}, "x");
    const Variable w("w", Tensor::FromVector(std::vector<float>{0, 0}));
    const Variable b("b", Tensor(0.0f));
    const Output y = Sum(x * w.value(), {1}) + b.value();
    loss = Mean(Square(y - Const(Tensor(1.0f))), {0});
    train = Adam({.learning_rate = 0.1f}).Minimize(loss, {.global_step = step});
  }

  FeedMap Batch() const {
    Tensor batch(DType::kFloat, {2, 2});
    const float values[] = {1, 2, 3, -1};
    std::copy_n(values, 4, batch.data<float>());
    return {{x, batch}};
  }

  Graph graph;
  Output x, loss;
  Variable step;
  Operation train;
};

class ClusterTrainingTest : public ::testing::Test {
 protected:
  ClusterTrainingTest()
      : cluster_({"/job:worker/replica:0/task:0", "/job:worker/replica:0/task:1",
                  "/job:ps/replica:0/task:0", "/job:ps/replica:0/task:1"}) {
    RegisterTargetScheme("worker", [this](const Graph&, const SessionOptions& options) {
      return SessionTarget{.environment = cluster_.environment(options.target.ends_with('1'))};
    });
    std::filesystem::remove_all(directory_);
  }
  ~ClusterTrainingTest() override { std::filesystem::remove_all(directory_); }

  LocalCluster cluster_;
  const std::string directory_ = std::string(SEXTANT_BINARY_DIR) + "/cluster_training_test." +
                                 testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ClusterTrainingTest, VariablesGoToTheServersByBytes) {
  const Model model;
  const auto device = [&](const char* node) { return model.graph.FindNode(node)->device(); };
  EXPECT_EQ(device("global_step"), "/job:ps/task:0");
  EXPECT_EQ(device("w"), "/job:ps/task:1");
  EXPECT_EQ(device("b"), "/job:ps/task:0");  // 8 bytes on each
  EXPECT_EQ(device("w/Adam"), "/job:ps/task:1");
  EXPECT_EQ(device("w/Read/ReadVariableOp"), "/job:ps/task:1");
  EXPECT_EQ(device("beta1_power"), "/job:ps/task:0");
  EXPECT_EQ(device("Square"), "");
}

TEST_F(ClusterTrainingTest, StepsAreCountedWhereTheyAre) {
  Model model;
  std::vector<int64_t> seen;
  MonitoredSession session(model.graph, {.target = "worker://0",
                                         .checkpoint_dir = directory_,
                                         .hooks = {StopAtStep(5)},
                                         .checkpoints = {.every = {.steps = 2}}});
  const int before = cluster_.calls();
  float first = 0, last = 0;
  while (!session.ShouldStop()) {
    last = session.Run({model.loss}, model.Batch(), {model.train})[0].scalar<float>();
    if (seen.empty()) first = last;
    seen.push_back(session.global_step());
  }
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 2, 3, 4, 5}));
  EXPECT_LT(last, first);
  EXPECT_GT(cluster_.calls(), before);
  session.Close();
  // It is restored to the servers.
  Model same;
  MonitoredSession again(same.graph, {.target = "worker://0", .checkpoint_dir = directory_});
  EXPECT_EQ(again.global_step(), 5);
}

// Adam too takes two calls a server, and one more to count the step.
TEST_F(ClusterTrainingTest, AStepTakesFewCalls) {
  Model model;
  MonitoredSession session(model.graph, {.target = "worker://0"});
  session.Run({}, model.Batch(), {model.train});
  std::map<std::string, int> calls;
  std::mutex mutex;
  cluster_.set_on_call([&](const Fragment& fragment, CancellationToken&) {
    const std::lock_guard lock(mutex);
    ++calls[ShortTaskName(fragment.task)];
  });
  session.Run({}, model.Batch(), {model.train});
  EXPECT_EQ(calls, (std::map<std::string, int>{{"/job:ps/task:0", 3}, {"/job:ps/task:1", 2}}));
}

TEST_F(ClusterTrainingTest, OneProcessGivesTheSame) {
  Model model;
  MonitoredSession clustered(model.graph, {.target = "worker://0"});
  Model other;
  MonitoredSession alone(other.graph, {});
  for (int i = 0; i < 20; ++i) {
    const Tensor a = clustered.Run({model.loss}, model.Batch(), {model.train})[0];
    const Tensor b = alone.Run({other.loss}, other.Batch(), {other.train})[0];
    ASSERT_TRUE(a.Identical(b)) << i;
  }
}

TEST_F(ClusterTrainingTest, OthersWaitForTheChief) {
  Model worker;
  const Status status = StatusOf([&] {
    MonitoredSession(
        worker.graph,
        {.target = "worker://1", .is_chief = false, .max_wait_for_chief = std::chrono::seconds(0)});
  });
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_NE(status.message().find("global_step, w, b"), std::string::npos) << status.message();

  Model chief, late;
  int64_t steps = 0;
  std::thread other([&] {
    MonitoredSession session(late.graph, {.target = "worker://1", .is_chief = false});
    for (int i = 0; i < 10; ++i) session.Run({}, late.Batch(), {late.train});
    steps = session.global_step();
  });
  MonitoredSession session(chief.graph, {.target = "worker://0"});
  for (int i = 0; i < 10; ++i) session.Run({}, chief.Batch(), {chief.train});
  other.join();
  EXPECT_GE(steps, 10);
  EXPECT_EQ(session.session().Run(chief.step.value()).scalar<int64_t>(), 20);  // none is lost
}

TEST_F(ClusterTrainingTest, VariablesOfOthersAreNotUsedInPlace) {
  Model model;
  MonitoredSession session(model.graph, {.target = "worker://0"});
  const Status status =
      StatusOf([&] { ThrowIfOfAnotherTask(session.session(), *model.graph.FindNode("w")); });
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("/job:ps/task:1"), std::string::npos) << status.message();
  EXPECT_TRUE(
      StatusOf([&] { ThrowIfOfAnotherTask(session.session(), *model.graph.FindNode("x")); }).ok());
}

// A session that another process runs has no resources here.
TEST_F(ClusterTrainingTest, SessionsOfOtherProcessesHaveNoResourcesHere) {
  class Elsewhere : public RemoteSession {
   public:
    void Run(std::span<const Output>, std::span<const Tensor>, std::span<const Output>,
             std::span<const Operation>, const RunOptions&, CancellationToken&,
             std::span<Tensor> fetches) override {
      for (Tensor& fetch : fetches) fetch = Tensor(7.0f);
    }
    void Close() noexcept override {}
    std::vector<const Device*> devices() const override { return {}; }
  };
  RegisterTargetScheme("elsewhere", [](const Graph&, const SessionOptions&) {
    return SessionTarget{.remote = std::make_unique<Elsewhere>()};
  });
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, {}, "x");
  Session session(graph, {.target = "elsewhere://a"});
  EXPECT_EQ(session.Run(x).scalar<float>(), 7.0f);
  EXPECT_EQ(session.MakeCallable({x}, {x})({Tensor(1.0f)})[0].scalar<float>(), 7.0f);
  const Status status = StatusOf([&] { session.resources(); });
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("elsewhere://a"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace sextant::train
