#include "sextant/dist/server.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "sextant/device/device.h"
#include "sextant/dist/grpc_target.h"
#include "sextant/dist/task_status.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

// Only a session of another process goes over the network; so does one of this process whose server
// is called by another name.
std::string RemoteTarget(const Server& server) {
  return "grpc://localhost:" + std::to_string(server.port());
}

TEST(ServerTest, TargetNamesThePortThatTheSystemChose) {
  const Server server({.cluster = ParseClusterSpec("local|localhost:0"), .job = "local"});
  EXPECT_NE(server.port(), 0);
  EXPECT_EQ(server.target(), "grpc://localhost:" + std::to_string(server.port()));
  EXPECT_EQ(server.task(), "/job:local/replica:0/task:0");
  EXPECT_EQ(Server::Find(server.target()), &server);
  EXPECT_EQ(Server::Find("grpc://localhost:1"), nullptr);
}

TEST(ServerTest, WhatCannotBeIsSaid) {
  const ClusterSpec cluster = ParseClusterSpec("local|localhost:0");
  EXPECT_EQ(StatusOf([&] { Server({.cluster = cluster, .job = "ps"}); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { Server({.cluster = cluster, .job = "local", .task = 1}); }).code(),
            Code::kInvalidArgument);
  TestCluster taken(1);
  const Status status = StatusOf([&] { Server({.cluster = taken.spec(), .job = "ps"}); });
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find(std::to_string(taken.port(0))), std::string::npos);
}

TEST(ServerTest, SessionOfThisProcessRunsOnTheTask) {
  const Server server({.cluster = ParseClusterSpec("local|localhost:0"), .job = "local"});
  Graph graph;
  const GraphScope use(graph);
  const Output text = Const(Tensor("Hello, distributed!"));
  Session session(graph, {.target = server.target()});
  EXPECT_EQ(session.Run(text).scalar<std::string>(), "Hello, distributed!");
  EXPECT_EQ(session.devices()[0]->name(), "/job:local/replica:0/task:0/device:CPU:0");
}

// The dequeue has been called when what it waits for is computed here.
TEST(ServerTest, ACallMayWaitForAnotherOfItsRun) {
  TestCluster cluster(2);
  Graph graph;
  const GraphScope use(graph);
  Variable w;
  Output queue;
  {
    const DeviceScope on("/job:ps/task:1");
    w = Variable("w", Tensor(3.0f));
    queue = FIFOQueue({DType::kFloat}, {.capacity = 5, .shapes = {Shape()}, .name = "q"});
  }
  const Output got = QueueDequeue(queue)[0];
  const Operation put = QueueEnqueue(queue, {Square(w.value()) + 1.0f});
  for (const std::string& target : {cluster.server(0).target(), RemoteTarget(cluster.server(0))}) {
    Session session(graph, {.target = target});
    session.Run(w.initializer());
    for (int i = 0; i < 5; ++i) {
      const auto values =
          session.Run({}, std::vector{got}, {put}, {.deadline = std::chrono::minutes(1)});
      ASSERT_EQ(values[0].scalar<float>(), 10.0f);
    }
  }
}

// As tf.cond makes it: the Switch is beside the variable.
TEST(ServerTest, ConditionalsBeginBesideTheirVariables) {
  TestCluster cluster(2);
  Graph graph;
  const GraphScope use(graph);
  const Output p = Placeholder(DType::kBool, {}, "p");
  Variable w;
  SwitchOutputs sides;
  {
    const DeviceScope on("/job:ps/task:1");
    w = Variable("w", Tensor(3.0f));
    sides = Switch(w.value(), p);
  }
  const Output y = Merge({Neg(sides.output_false), Square(sides.output_true)}).output;
  for (const std::string& target : {cluster.server(0).target(), RemoteTarget(cluster.server(0))}) {
    Session session(graph, {.target = target});
    session.Run(w.initializer());
    EXPECT_EQ(session.Run({{p, Tensor(false)}}, y).scalar<float>(), -3.0f);
    EXPECT_EQ(session.Run({{p, Tensor(true)}}, y).scalar<float>(), 9.0f);
  }
}

// Not even softly, and not where there is only one task: the wrong cluster was named.
TEST(ServerTest, TasksThatAreNotThereAreNotReplaced) {
  const Server server({.cluster = ParseClusterSpec("local|127.0.0.1:0"), .job = "local"});
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const auto on = [&](const std::string& device) {
    const DeviceScope scope(device);
    return Square(x);
  };
  const Output here = on("/job:local/task:0"), anywhere = on("/cpu:0"), soft = on("/gpu:7");
  const std::vector<std::string> missing = {"/job:worker/task:1", "/job:local/task:1",
                                            "/job:local/task:1/device:GPU:0", "/job:ps"};
  std::vector<Output> lost;
  for (const std::string& device : missing) lost.push_back(on(device));
  for (const std::string& target : {server.target(), RemoteTarget(server)}) {
    for (const bool allow_soft_placement : {true, false}) {
      Session session(graph, {.target = target, .allow_soft_placement = allow_soft_placement});
      EXPECT_EQ(session.Run({{x, Tensor(3.0f)}}, here).scalar<float>(), 9.0f);
      EXPECT_EQ(session.Run({{x, Tensor(3.0f)}}, anywhere).scalar<float>(), 9.0f);
      if (allow_soft_placement) {
        EXPECT_EQ(session.Run({{x, Tensor(3.0f)}}, soft).scalar<float>(), 9.0f);
      }
      for (size_t i = 0; i < missing.size(); ++i) {
        const Status status = StatusOf([&] { session.Run({{x, Tensor(3.0f)}}, lost[i]); });
        EXPECT_EQ(status.code(), Code::kInvalidArgument);
        EXPECT_NE(status.message().find(fmt::format(
                      "[Square {}] cannot be placed on '{}': there is no such task; the devices "
                      "are /job:local/replica:0/task:0/device:CPU:0",
                      lost[i].node()->name(), missing[i])),
                  std::string::npos)
            << status.message();
      }
    }
  }
}

// The readers are here, so their reads and the change are one fragment of the other task.
TEST(ServerTest, ReadsOfReferencesKeepTheOrderOfTheProgram) {
  TestCluster cluster(2);
  Graph graph;
  const GraphScope use(graph);
  const DeviceFunction ps = [](const NodeSpec&) { return "/job:ps/task:1"; };
  Output r;
  Operation init, set;
  {
    const DeviceScope on(ps);
    r = OpBuilder("VariableV2").Attr("shape", PartialShape{2}).Attr("dtype", DType::kFloat).Build();
    const Output start = Const(Tensor::Of<float>({1, 2}));
    init = OpBuilder("Assign").Input(r).Input(start).BuildOperation();
  }
  const Output before = Identity(r), doubled = Identity(r) * 2.0f;
  {
    const DeviceScope on(ps);
    const Output value = Const(Tensor::Of<float>({7, 8}));
    set = OpBuilder("Assign").Input(r).Input(value).BuildOperation();
  }
  for (const std::string& target :
       {std::string(), cluster.server(0).target(), RemoteTarget(cluster.server(0))}) {
    Session session(graph, {.target = target});
    session.Run(init);
    const std::vector<Tensor> values = session.Run({}, std::vector{before, doubled}, {set});
    EXPECT_TRUE(values[0].Identical(Tensor::Of<float>({1, 2}))) << target << values[0].ToString();
    EXPECT_TRUE(values[1].Identical(Tensor::Of<float>({2, 4}))) << target << values[1].ToString();
    EXPECT_TRUE(session.Run(before).Identical(Tensor::Of<float>({7, 8})));
  }
}

// What runs is waited for, for two seconds, by all who stop or join.
TEST(ServerTest, StopAndJoinReturnWhenTheServerHasStopped) {
  auto server = std::make_unique<Server>(
      ServerOptions{.cluster = ParseClusterSpec("local|127.0.0.1:0"), .job = "local"});
  Graph graph;
  const GraphScope use(graph);
  const Output element = QueueDequeue(FIFOQueue({DType::kFloat}, {.shared_name = "q"}))[0];
  Session session(graph, {.target = RemoteTarget(*server)});
  std::thread run([&] { StatusOf([&] { session.Run(element); }); });
  const std::string address = fmt::format("localhost:{}", server->port());
  while (AskStatus(address, {}).running() == 0) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  std::thread stop([&] { server->Stop(); });
  while (StatusOf([&] { AskStatus(address, {}); }).ok()) std::this_thread::yield();
  server->Stop();
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  server->Join();
  server.reset();
  stop.join();
  run.join();
}

class RemoteSessionTest : public testing::Test {
 protected:
  TestCluster cluster_{1};
  Graph graph_;
  const GraphScope use_{graph_};
};

TEST_F(RemoteSessionTest, RunsGraphsOfClients) {
  const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
  const Output y = Square(x), text = Const(Tensor("Hello, distributed!"));
  Session session(graph_, {.target = RemoteTarget(cluster_.server(0))});
  EXPECT_EQ(session.Run(text).scalar<std::string>(), "Hello, distributed!");
  const std::vector<Tensor> both = session.Run({{x, Tensor::Of<float>({1, -3})}}, {y, text});
  EXPECT_TRUE(both[0].Identical(Tensor::Of<float>({1, 9})));
  EXPECT_EQ(session.devices()[0]->name(), "/job:ps/replica:0/task:0/device:CPU:0");
}

TEST_F(RemoteSessionTest, StatusTellsTheRunsOfClients) {
  constexpr int64_t kBytes = 4000;
  const Output x = Placeholder(DType::kFloat, {kBytes / 4}, "x"), y = Square(x);
  Session session(graph_, {.target = RemoteTarget(cluster_.server(0))});
  for (int i = 0; i < 3; ++i) session.Run({{x, Tensor::Zeros(DType::kFloat, {kBytes / 4})}}, y);
  const StatusReply status = AskStatus(fmt::format("localhost:{}", cluster_.server(0).port()), {});
  EXPECT_EQ(status.calls(), 3u);
  EXPECT_EQ(status.running(), 0u);
  for (const uint64_t bytes : {status.received_bytes(), status.sent_bytes()}) {
    EXPECT_GT(bytes, 3u * kBytes);
    EXPECT_LT(bytes, 4u * kBytes);
  }
}

TEST_F(RemoteSessionTest, VariablesOutliveTheSession) {
  const Variable v("v", Tensor::Of<float>({1, 2}));
  const Operation init = GlobalVariablesInitializer();
  const Output doubled = v.Read() * 2.0f;
  const std::string target = RemoteTarget(cluster_.server(0));
  { Session(graph_, {.target = target}).Run(init); }
  Session session(graph_, {.target = target});
  EXPECT_TRUE(session.Run(doubled).Identical(Tensor::Of<float>({2, 4})));
}

TEST_F(RemoteSessionTest, GraphMayGrow) {
  const Output x = Const(Tensor(2.0f));
  Session session(graph_, {.target = RemoteTarget(cluster_.server(0))});
  EXPECT_EQ(session.Run(x).scalar<float>(), 2.0f);
  Output y = x;
  for (int i = 0; i < 3; ++i) {
    y = y * x;
    EXPECT_EQ(session.Run(y).scalar<float>(), std::pow(2.0f, static_cast<float>(i + 2)));
  }
}

TEST_F(RemoteSessionTest, CallablesWork) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  Session session(graph_, {.target = RemoteTarget(cluster_.server(0))});
  const Callable square = session.MakeCallable({x}, {Square(x)});
  EXPECT_EQ(square({Tensor(3.0f)})[0].scalar<float>(), 9.0f);
  EXPECT_EQ(square({Tensor(4.0f)})[0].scalar<float>(), 16.0f);
}

TEST_F(RemoteSessionTest, ErrorsComeBackAsTheyAre) {
  const Output a = Placeholder(DType::kFloat, PartialShape(), "a");
  const Output product = OpBuilder("MatMul").Input(a).Input(a).Name("b").Build();
  const Variable v("v", Tensor(1.0f));
  Session session(graph_, {.target = RemoteTarget(cluster_.server(0))});
  const Status shape = StatusOf([&] {
    session.Run({{a, Tensor::Zeros(DType::kFloat, {2, 3})}}, product);
  });
  EXPECT_EQ(shape.code(), Code::kInvalidArgument);
  EXPECT_TRUE(shape.message().starts_with("[MatMul b] on /job:ps/task:0: ")) << shape.message();
  EXPECT_EQ(StatusOf([&] { session.Run(v.Read()); }).code(), Code::kFailedPrecondition);
  EXPECT_EQ(StatusOf([&] { session.Run(v.handle()); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { session.resources(); }).code(), Code::kFailedPrecondition);
}

TEST_F(RemoteSessionTest, LargeFeedsAndFetchesGetThrough) {
  const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
  Session session(graph_, {.target = RemoteTarget(cluster_.server(0))});
  Tensor large(DType::kFloat, {(int64_t{65} << 20) / 4});
  for (int64_t i = 0; i < large.num_elements(); ++i)
    large.data<float>()[i] = static_cast<float>(i % 1000);
  const Tensor back = session.Run({{x, large}}, Neg(x));
  EXPECT_EQ(back.data<float>()[large.num_elements() - 1],
            -large.data<float>()[large.num_elements() - 1]);
}

TEST_F(RemoteSessionTest, DeadlineAndCloseEndRuns) {
  const Output queue = FIFOQueue({DType::kFloat}, {.shared_name = "q"});
  const Output element = QueueDequeue(queue)[0];
  Session session(graph_, {.target = RemoteTarget(cluster_.server(0))});
  EXPECT_EQ(
      StatusOf([&] { session.Run(element, {.deadline = std::chrono::milliseconds(200)}); }).code(),
      Code::kDeadlineExceeded);
  session.Close();
  EXPECT_EQ(StatusOf([&] { session.Run(element); }).code(), Code::kCancelled);
}

TEST_F(RemoteSessionTest, ServerThatIsBackDoesNotKnowTheSession) {
  const Output one = Const(Tensor(1.0f));
  const std::string target = RemoteTarget(cluster_.server(0));
  Session session(graph_, {.target = target});
  EXPECT_EQ(session.Run(one).scalar<float>(), 1.0f);
  cluster_.Stop(0);
  cluster_.Start(0);
  const Status status = StatusOf([&] { session.Run(one); });
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_NE(status.message().find("/job:ps/task:0 was restarted and does not know session"),
            std::string::npos)
      << status.message();
  EXPECT_EQ(Session(graph_, {.target = target}).Run(one).scalar<float>(), 1.0f);
}

TEST_F(RemoteSessionTest, GraphsOfOthersOpenNoFiles) {
  const Output text =
      OpBuilder("ReadFile").Input(Const(Tensor("/etc/hostname"))).Name("read").Build();
  const std::string target = RemoteTarget(cluster_.server(0));
  const Status status = StatusOf([&] { Session(graph_, {.target = target}).Run(text); });
  EXPECT_EQ(status.code(), Code::kPermissionDenied);
  EXPECT_NE(status.message().find("[ReadFile read]"), std::string::npos) << status.message();
}

TEST(TargetTest, WhatIsNoTargetIsSaid) {
  RegisterGrpcTargets();
  Graph graph;
  EXPECT_EQ(StatusOf([&] { Session(graph, {.target = "grpc://nowhere"}); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { Session(graph, {.target = "http://a:1"}); }).code(),
            Code::kInvalidArgument);
  const Status status = StatusOf([&] {
    Session(graph, {.target = "grpc://127.0.0.1:1", .deadline = std::chrono::milliseconds(300)});
  });
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace sextant::dist
