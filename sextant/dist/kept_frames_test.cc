#include "sextant/dist/kept_frames.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <thread>

#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

DeviceScope OnTask(int task) { return DeviceScope("/job:ps/task:" + std::to_string(task)); }

StatusReply StatusOfTask(const TestCluster& cluster, int task) {
  grpc::ClientContext context;
  StatusReply reply;
  const auto peer = cluster.NewPeer(task);
  const auto stub = TaskService::NewStub(peer->control());
  EXPECT_TRUE(stub->Status(&context, StatusRequest(), &reply).ok());
  return reply;
}

// What one task has asked another.
PeerStatus StatusOfPeer(const TestCluster& cluster, int of, int to) {
  const StatusReply status = StatusOfTask(cluster, of);
  for (const PeerStatus& peer : status.peers()) {
    if (peer.task() == TaskName("ps", to)) return peer;
  }
  throw NotFound("no such peer");
}

// Variables of task 1 of 4,850 elements, of the values 0, 1, 2, 3, 0, 1 …, summed on task 2.
struct SumOfVariables {
  // REQUIRES: a multiple of 4.
  explicit SumOfVariables(int count) {
    const GraphScope use(graph);
    std::vector<Output> sums;
    for (int i = 0; i < count; ++i) {
      std::optional<Variable> variable;
      {
        const DeviceScope on = OnTask(1);
        Tensor value(DType::kFloat, {4850});
        std::ranges::fill(value.flat<float>(), static_cast<float>(i % 4));
        variable.emplace("v" + std::to_string(i), value);
      }
      const DeviceScope on = OnTask(2);
      sums.push_back(ReduceSum(variable->value()));
    }
    const DeviceScope on = OnTask(2);
    sum = AddN(sums);
    initializer = GlobalVariablesInitializer();
    expected = 4850.0f * 6 * static_cast<float>(count) / 4;
  }
  Graph graph;
  Output sum;
  Operation initializer;
  float expected = 0;
};

TEST(KeptFramesTest, OneFrameCarriesAllThatATaskKeeps) {
  for (const bool shared : {true, false}) {
    TestCluster cluster(3, {.shared_frames = shared});
    const SumOfVariables variables(136);
    Session session(variables.graph, {.target = cluster.server(0).target()});
    session.Run(variables.initializer);
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(session.Run(variables.sum).scalar<float>(), variables.expected);
    const PeerStatus fetched = StatusOfPeer(cluster, 2, 1);
    EXPECT_EQ(fetched.calls(), 3u);
    EXPECT_EQ(fetched.shared_bytes() >= 3 * 136 * 4850 * 4, shared);
    EXPECT_EQ(fetched.received_bytes() >= 3 * 136 * 4850 * 4, !shared);
  }
}

TEST(KeptFramesTest, FramesThatWereTakenHoldNoMemory) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  TestCluster cluster(3);
  const SumOfVariables variables(40);
  Session session(variables.graph, {.target = cluster.server(0).target()});
  session.Run(variables.initializer);
  for (int i = 0; i < 5; ++i) session.Run(variables.sum);
  const auto before = open_files();
  for (int i = 0; i < 50; ++i) session.Run(variables.sum);
  EXPECT_LE(open_files(), before + 4);
  EXPECT_GE(StatusOfPeer(cluster, 2, 1).shared_bytes(), 55u * 40 * 4850 * 4);
}

// Inputs of several makers, of two tasks and of the one that needs them, in any order.
TEST(KeptFramesTest, InputsOfSeveralTasksComeInTheirPlaces) {
  TestCluster cluster(4);
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({2}), "x");
  const auto scaled = [&](int task, float factor) {
    const DeviceScope on = OnTask(task);
    return x * factor;
  };
  const Output one = scaled(1, 2), two = scaled(2, 3), three = scaled(3, 5), four = scaled(1, 7);
  Output later;
  {
    const DeviceScope on = OnTask(1);
    later = Square(two);  // another fragment of task 1
  }
  Output all;
  {
    const DeviceScope on = OnTask(3);
    all = Stack({four, later, three, two, one});
  }
  Session session(graph, {.target = cluster.server(0).target()});
  const Tensor got = session.Run({{x, Tensor::Of<float>({1, 10})}}, all);
  const std::vector<float> expected = {7, 70, 9, 900, 5, 50, 3, 30, 2, 20};
  EXPECT_TRUE(std::ranges::equal(got.flat<float>(), expected)) << got.ToString();
  EXPECT_EQ(StatusOfPeer(cluster, 3, 1).calls(), 1u);
  EXPECT_EQ(StatusOfPeer(cluster, 3, 2).calls(), 1u);
}

// What task 1 keeps is used on task 2 when an element is in a queue of task 0. That the call of
// task 1 has been answered shows in another queue.
struct WaitingGraph {
  WaitingGraph() {
    const GraphScope use(graph);
    const Output go = FIFOQueue({DType::kFloat}, {.shared_name = "go"});
    const Output seen = FIFOQueue({DType::kFloat}, {.shared_name = "seen"});
    put = QueueEnqueue(go, {Const(Tensor(1.0f))});
    answered = QueueDequeue(seen)[0];
    Output kept, told;
    {
      const DeviceScope on = OnTask(1);
      w.emplace("w", Tensor(3.0f));
      kept = Square(w->value());
      told = Neg(w->value());
    }
    const ControlDependencies after({QueueEnqueue(seen, {told})});
    const Output element = QueueDequeue(go)[0];
    const DeviceScope on = OnTask(2);
    sum = kept + element;
  }
  Graph graph;
  Operation put;
  std::optional<Variable> w;
  Output answered, sum;
};

TEST(KeptFramesTest, KeeperThatIsRestartedOrGoneIsNamed) {
  for (const bool met_before : {true, false}) {
    for (const bool comes_back : {true, false}) {
      TestCluster cluster(3);
      const WaitingGraph waiting;
      Session session(waiting.graph, {.target = cluster.server(0).target()});
      session.Run(waiting.w->initializer());
      if (met_before) {
        session.Run(waiting.put);
        EXPECT_EQ(session.Run(waiting.sum).scalar<float>(), 10.0f);
        session.Run(waiting.answered);
      }
      auto ended = std::async(std::launch::async, [&] {
        return StatusOf([&] { session.Run(waiting.sum, {.deadline = seconds(60)}); });
      });
      EXPECT_EQ(session.Run(waiting.answered).scalar<float>(), -3.0f);
      cluster.Stop(1);
      if (comes_back) cluster.Start(1);
      const auto start = SteadyClock::now();
      session.Run(waiting.put);
      const Status status = ended.get();
      EXPECT_LT(SteadyClock::now() - start, seconds(5));
      EXPECT_EQ(status.code(), comes_back ? Code::kAborted : Code::kUnavailable);
      const std::string why = std::string("on /job:ps/task:2: /job:ps/task:1 ") +
                              (comes_back ? "was restarted during the run" : "is gone");
      EXPECT_TRUE(status.message().starts_with(why)) << status.message();
    }
  }
}

TEST(KeptFramesTest, FetchingEndsAtTheDeadlineAndSurvivesCuts) {
  TestCluster cluster(1);
  FaultProxy proxy(cluster.port(0));
  const auto peer = cluster.NewPeer(0, proxy.address());
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
  const Output negative = Neg(x), square = Square(x);
  const auto maker = MakeFragment(graph, 0, {x}, {});
  maker->kept = {negative.name(), square.name()};
  CancellationToken never;
  peer->Start(maker, 7, {Tensor::Of<float>({2, 3})})->Wait({}, never);
  KeptHeader wanted;
  wanted.set_run(7);
  KeptTensors* tensors = wanted.add_tensors();
  tensors->set_maker(maker->fingerprint);
  for (const int32_t position : {1, 0, 1}) tensors->add_positions(position);
  for (int i = 0; i < 3; ++i) {
    proxy.CutAfter(FaultProxy::Way::kToClient, 1);
    const std::vector<Tensor> kept = peer->FetchKept(wanted, never);
    ASSERT_EQ(kept.size(), 3u);
    EXPECT_TRUE(kept[0].Identical(Tensor::Of<float>({4, 9})));
    EXPECT_TRUE(kept[1].Identical(Tensor::Of<float>({-2, -3})));
    EXPECT_TRUE(kept[2].Identical(kept[0]));
  }
  proxy.Set({.stall = true});
  CancellationToken token;
  const auto start = SteadyClock::now();
  const auto deadline = DeadlineTimer::Schedule(start + milliseconds(300), token);
  EXPECT_EQ(StatusOf([&] { peer->FetchKept(wanted, token); }).code(), Code::kDeadlineExceeded);
  EXPECT_LT(SteadyClock::now() - start, seconds(2));
  proxy.Set({});
  tensors->add_positions(2);
  EXPECT_EQ(StatusOf([&] { peer->FetchKept(wanted, never); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant::dist
