// Tasks of a training in one process: epochs, taking over, snapshots, who is refused.
#include "sextant/dist/training_task.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "sextant/base/free_ports.h"
#include "sextant/dist/grpc_target.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/state/variable.h"
#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

// A chief, a worker and two servers. The model: a on ps 0, b on ps 1.
class TrainingTaskTest : public testing::Test {
 protected:
  TrainingTaskTest() {
    RegisterGrpcTargets();
    const GraphScope use(graph_);
    const auto make = [](const char* name, const char* device) {
      const DeviceScope on(device);
      return Variable(name, Tensor(0.0f));
    };
    a_ = make("a", "/job:ps/task:0");
    b_ = make("b", "/job:ps/task:1");
    init_ = GlobalVariablesInitializer();
    add_a_ = Operation(a_.AssignAdd(Const(Tensor(1.0f))));
    add_b_ = Operation(b_.AssignAdd(Const(Tensor(1.0f))));
    for (int ps = 0; ps < 2; ++ps) StartServer(ps);
  }
  ~TrainingTaskTest() override {
    for (int ps = 0; ps < 2; ++ps) StopServer(ps);
  }

  ClusterTaskOptions Options(const std::string& job, int index, std::optional<int> rank) {
    ClusterTaskOptions options{.job = job,
                               .index = index,
                               .trainers = {{"chief", 0}, {"worker", 0}},
                               .rank = rank,
                               .num_ps = 2};
    const auto address = [&](int i) { return fmt::format("127.0.0.1:{}", ports_[i]); };
    options.jobs = {
        {"ps", {address(0), address(1)}}, {"chief", {address(2)}}, {"worker", {address(3)}}};
    options.address = options.jobs[job][index];
    return options;
  }
  void StartServer(int ps) {
    tokens_[ps] = std::make_shared<CancellationToken>();
    ClusterTaskOptions options = Options("ps", ps, {});
    options.cancellation = tokens_[ps];
    options.save_time = std::chrono::milliseconds(0);
    servers_[ps] = OpenTrainingTask(options);
    serving_[ps] = std::thread([server = servers_[ps].get()] {
      try {
        server->Serve([] { return false; });
      } catch (const Error&) {  // cancelled
      }
    });
  }
  void StopServer(int ps) {
    tokens_[ps]->Cancel();
    serving_[ps].join();
    servers_[ps].reset();
  }
  std::unique_ptr<Cluster> OpenChief() { return OpenTrainingTask(Options("chief", 0, 0)); }
  std::unique_ptr<Cluster> OpenWorker() { return OpenTrainingTask(Options("worker", 0, 1)); }
  double Value(Session& session, const Variable& variable) {
    return session.Run(variable.value()).AsDouble();
  }

  const std::vector<int> ports_ = FreePorts(4);
  const std::vector<ClusterVariable> model_ = {{"a", "float", "[]"}, {"b", "float", "[]"}};
  Graph graph_;
  Variable a_, b_;
  Operation init_, add_a_, add_b_;
  std::shared_ptr<CancellationToken> tokens_[2];
  std::unique_ptr<Cluster> servers_[2];
  std::thread serving_[2];
};

TEST_F(TrainingTaskTest, TheChiefInitialisesAndASecondOneTakesOver) {
  const auto worker = OpenWorker();
  {
    const auto chief = OpenChief();
    Session session(graph_, {.target = chief->target()});
    ASSERT_EQ(chief->Start(model_), ClusterStart::kInitialise);
    session.Run(init_);
    chief->Commit(0);
    session.Run(add_a_);
    chief->Leave();
  }
  ASSERT_EQ(worker->Start(model_), ClusterStart::kReady);
  Session session(graph_, {.target = worker->target()});
  session.Run(add_b_);

  const auto chief = OpenChief();
  ASSERT_EQ(chief->Start(model_), ClusterStart::kReady);
  Session again(graph_, {.target = chief->target()});
  EXPECT_EQ(Value(again, a_), 1);
  EXPECT_EQ(Value(again, b_), 1);
  chief->Finish();
  EXPECT_EQ(worker->Start(model_), ClusterStart::kStop);
}

TEST_F(TrainingTaskTest, AServerThatCameBackEndsTheEpoch) {
  const auto chief = OpenChief(), worker = OpenWorker();
  Session session(graph_, {.target = chief->target()});
  Session others(graph_, {.target = worker->target()});
  ASSERT_EQ(chief->Start(model_), ClusterStart::kInitialise);
  session.Run(init_);
  chief->Commit(0);
  ASSERT_EQ(worker->Start(model_), ClusterStart::kReady);
  others.Run(add_a_);
  others.Run(add_b_);

  StopServer(1);
  StartServer(1);
  const Status lost = StatusOf([&] { others.Run(add_b_); });
  EXPECT_EQ(lost.code(), Code::kAborted) << lost.message();
  ASSERT_EQ(chief->Start(model_), ClusterStart::kInitialise);
  // Only the chief is let in before it commits.
  const Status early = StatusOf([&] { others.Run(add_a_); });
  EXPECT_EQ(early.code(), Code::kAborted) << early.message();
  session.Run(init_);
  chief->Commit(0);
  ASSERT_EQ(worker->Start(model_), ClusterStart::kReady);
  others.Run(add_a_);
  EXPECT_EQ(Value(session, a_), 1);  // of the old epoch nothing is left
  EXPECT_EQ(Value(session, b_), 0);
}

TEST_F(TrainingTaskTest, ACutIsOfOneMomentAndStays) {
  const auto chief = OpenChief(), worker = OpenWorker();
  Session session(graph_, {.target = chief->target()});
  Session others(graph_, {.target = worker->target()});
  ASSERT_EQ(chief->Start(model_), ClusterStart::kInitialise);
  session.Run(init_);
  chief->Commit(0);
  ASSERT_EQ(worker->Start(model_), ClusterStart::kReady);
  std::atomic<bool> stop = false;
  std::thread training([&] {
    while (!stop) {  // b is never more than a, and never less than a - 1
      others.Run(add_a_);
      others.Run(add_b_);
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto cut = chief->TakeCut();
    const double a = Value(session, a_), b = Value(session, b_);
    EXPECT_LE(b, a);
    EXPECT_GE(b, a - 1);
    EXPECT_EQ(Value(session, a_), a);
    EXPECT_EQ(Value(session, b_), b);
  }
  stop = true;
  training.join();
  EXPECT_EQ(Value(session, a_), Value(session, b_));
}

TEST_F(TrainingTaskTest, RefusesOtherModelsAndSecondProcesses) {
  const auto chief = OpenChief();
  Session session(graph_, {.target = chief->target()});
  ASSERT_EQ(chief->Start(model_), ClusterStart::kInitialise);
  session.Run(init_);
  chief->Commit(0);
  const auto worker = OpenWorker();
  const Status other = StatusOf([&] {
    worker->Start({{"a", "float", "[]"}, {"b", "float", "[2]"}});
  });
  EXPECT_EQ(other.code(), Code::kFailedPrecondition);
  EXPECT_NE(other.message().find("variable b is float [] there and float [2] here"),
            std::string::npos)
      << other.message();
  ASSERT_EQ(worker->Start(model_), ClusterStart::kReady);

  // Another process of the same task, which the address of the task does not lead to.
  ClusterTaskOptions twin = Options("worker", 0, 1);
  twin.dynamic = true;
  twin.jobs["worker"] = {fmt::format("127.0.0.1:{}", FreePorts(1)[0])};
  const auto second = OpenTrainingTask(twin);
  const Status taken = StatusOf([&] { second->Start(model_); });
  EXPECT_EQ(taken.code(), Code::kAlreadyExists) << taken.message();
}

}  // namespace
}  // namespace sextant::dist
