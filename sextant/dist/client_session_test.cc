// Sessions of clients that are no task: what they see when things go wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "sextant/base/temporary_directory.h"
#include "sextant/dist/server.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

using std::chrono::milliseconds;

class ClientSessionTest : public testing::Test {
 protected:
  // Over the network, though the servers are of this process: they are called by another name.
  std::string Target(int task) const {
    return "grpc://localhost:" + std::to_string(cluster_.port(task));
  }
  TestCluster cluster_{2};
  Graph graph_;
  const GraphScope use_{graph_};
};

Output FileContent(const Output& name) {
  return OpBuilder("ReadFile").Input(name).Name("read").Build();
}

TEST_F(ClientSessionTest, ExtensionThatIsLostIsSentAgain) {
  FaultProxy proxy(cluster_.port(0));
  const Output x = Const(Tensor(3.0f));
  Session session(graph_, {.target = "grpc://" + proxy.address()});
  EXPECT_EQ(session.Run(x).scalar<float>(), 3.0f);
  float expected = 3;
  Output y = x;
  for (const FaultProxy::Way lost : {FaultProxy::Way::kToServer, FaultProxy::Way::kToClient}) {
    for (int i = 0; i < 3; ++i) {  // the server has got it, or not; the next one is larger
      y = y * x;
      expected *= 3;
      proxy.Set({.black_hole = lost});
      EXPECT_EQ(StatusOf([&] { session.Run(y, {.deadline = milliseconds(300)}); }).code(),
                Code::kDeadlineExceeded);
      y = y * x;
      expected *= 3;
      proxy.Set({});
      proxy.Reset();
      EXPECT_EQ(session.Run(y).scalar<float>(), expected);
      EXPECT_EQ(session.Run(x).scalar<float>(), 3.0f);
    }
  }
}

// The server gets the extension, its answer is lost: the run that extends waits for it.
TEST_F(ClientSessionTest, RunsEndInTimeWhileAnotherExtendsTheSession) {
  FaultProxy proxy(cluster_.port(0));
  const Output x = Const(Tensor(3.0f));
  Session session(graph_, {.target = "grpc://" + proxy.address()});
  EXPECT_EQ(session.Run(x).scalar<float>(), 3.0f);
  const Output large = Sum(Const(Tensor::Zeros(DType::kFloat, {100'000})), {0}) + x;
  proxy.Set({.black_hole = FaultProxy::Way::kToClient});
  const int64_t sent = proxy.bytes(FaultProxy::Way::kToServer);
  CancellationToken first_token, second_token;
  std::atomic<bool> ended = false;
  std::thread first([&] {
    const RunOptions options{.deadline = std::chrono::seconds(15), .cancellation = &first_token};
    EXPECT_EQ(StatusOf([&] { session.Run(large, options); }).code(), Code::kCancelled);
    ended = true;
  });
  while (proxy.bytes(FaultProxy::Way::kToServer) < sent + 400'000) std::this_thread::yield();
  std::thread second([&] {
    const Status status = StatusOf([&] { session.Run(x, {.cancellation = &second_token}); });
    EXPECT_EQ(status.code(), Code::kCancelled);
    EXPECT_FALSE(ended);
  });
  const Status late = StatusOf([&] { session.Run(x, {.deadline = milliseconds(100)}); });
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  EXPECT_NE(late.message().find("no answer yet from /job:ps/task:0"), std::string::npos);
  EXPECT_FALSE(ended);
  second_token.Cancel();
  second.join();
  first_token.Cancel();
  first.join();
  proxy.Set({});
  proxy.Reset();
  EXPECT_EQ(session.Run(large).scalar<float>(), 3.0f);
}

TEST_F(ClientSessionTest, RunThatIsRefusedLeavesTheSessionAsItWas) {
  const Output a = Square(Const(Tensor(3.0f)));
  Session session(graph_, {.target = Target(0)});
  EXPECT_EQ(session.Run(a).scalar<float>(), 9.0f);
  const Output file = FileContent(Const(Tensor("/etc/hostname")));
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(StatusOf([&] { session.Run(file); }).code(), Code::kPermissionDenied);
  EXPECT_EQ(session.Run(a).scalar<float>(), 9.0f);
  EXPECT_EQ(session.Run(a + 1.0f).scalar<float>(), 10.0f);
}

TEST_F(ClientSessionTest, WhatCannotBeRunIsSaidAsHere) {
  const Output x = Placeholder(DType::kFloat, {2}, "x"), y = Square(x);
  Graph other;
  Output foreign;
  {
    const GraphScope use(other);
    foreign = Square(Placeholder(DType::kFloat, {2}, "x"));  // of the same names
  }
  const Tensor two = Tensor::Of<float>({1, 2});
  const std::vector<std::function<void(Session&)>> runs = {
      [&](Session& session) { session.Run(Output()); },
      [&](Session& session) { session.Run(Operation()); },
      [&](Session& session) {
        session.Run({{Output(), two}}, y);
      },
      [&](Session& session) {
        session.Run({{x, two}}, foreign);
      },
      [&](Session& session) {
        session.Run({{foreign, two}, {x, two}}, y);
      },
      [&](Session& session) {
        session.Run({{x, two}}, Operation(foreign));
      },
      [&](Session& session) {
        session.Run({{x, Tensor()}}, y);
      },
      [&](Session& session) {
        session.Run({{x, Tensor::Of<int32_t>({1, 2})}}, y);
      },
      [&](Session& session) {
        session.Run({{x, Tensor::Of<float>({1})}}, y);
      },
      [&](Session& session) {
        session.Run({{x, two}, {x, two}}, y);
      },
      [&](Session& session) { session.MakeCallable({x}, {foreign})({two}); },
  };
  Session here(graph_), there(graph_, {.target = Target(0)});
  for (size_t i = 0; i < runs.size(); ++i) {
    const Status expected = StatusOf([&] { runs[i](here); }),
                 status = StatusOf([&] { runs[i](there); });
    EXPECT_EQ(expected.code(), Code::kInvalidArgument) << i;
    EXPECT_EQ(status.code(), expected.code()) << i << ": " << status.message();
    EXPECT_EQ(status.message(), expected.message()) << i;
  }
  EXPECT_TRUE(there.Run({{x, two}}, y).Identical(Tensor::Of<float>({1, 4})));
}

// Nodes that are never run do no harm; whatever way they come to be run, they open no file.
TEST_F(ClientSessionTest, FilesAreOpenedByNoRun) {
  const Output name = Placeholder(DType::kString, {}, "name"), one = Const(Tensor(1.0f));
  const Output which = Placeholder(DType::kBool, {}, "which");
  const Variable v("v", Tensor(2.0f));
  const train::Saver saver(graph_);
  std::vector<Output> reads = {FileContent(name)};
  {
    const DeviceScope on("/job:ps/task:1");
    reads.push_back(FileContent(name));
  }
  reads.push_back(Cond(
      which, [&] { return std::vector<Output>{FileContent(name)}; },
      [&] { return std::vector<Output>{name}; })[0]);
  {
    const ControlDependencies behind({Operation(reads[0])});
    reads.push_back(Identity(one));
  }
  Session session(graph_, {.target = Target(0)});
  session.Run(v.initializer());
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(session.Run(v.Read() + one).scalar<float>(), 3.0f);
    for (const Output& read : reads) {
      const FeedMap feeds = {{name, Tensor("/etc/hostname")}, {which, Tensor(true)}};
      const Status status = StatusOf([&] { session.Run(feeds, read); });
      EXPECT_EQ(status.code(), Code::kPermissionDenied) << read.name() << status.message();
      EXPECT_NE(status.message().find("opens no files"), std::string::npos) << status.message();
    }
  }
}

struct Training {
  Training() {
    const GraphScope use(graph);
    step = train::GetOrCreateGlobalStep();
    const Variable w("w", Tensor(0.0f));
    update = train::GradientDescent({.learning_rate = 0.1f})
                 .Minimize(Square(w.value() - 1.0f), {.global_step = step});
  }
  int64_t Train(train::MonitoredSessionOptions options, int64_t until) {
    options.hooks.push_back(train::StopAtStep(until));
    train::MonitoredSession session(graph, options);
    while (!session.ShouldStop()) session.Run(update);
    session.Close();
    return session.global_step();
  }
  Graph graph;
  Variable step;
  Operation update;
};

TEST_F(ClientSessionTest, TrainsOnAServerThatOpensNoFiles) {
  EXPECT_EQ(Training().Train({.target = Target(0)}, 5), 5);
}

TEST(ClientTrainingTest, SavesAndResumesOnAServerThatMayOpenFiles) {
  TestCluster cluster(1, {.allow_files = true});
  const std::string target = "grpc://localhost:" + std::to_string(cluster.port(0));
  const TemporaryDirectory directory;
  const train::MonitoredSessionOptions options{
      .target = target, .checkpoint_dir = directory.path(), .checkpoints = {.every = {.steps = 2}}};
  EXPECT_EQ(Training().Train(options, 5), 5);
  cluster.Stop(0);
  cluster.Start(0);
  EXPECT_EQ(Training().Train(options, 8), 8);
  EXPECT_TRUE(LatestCheckpoint(directory.path()).value_or("").ends_with("-8"));
}

TEST_F(ClientSessionTest, ErrorsNameTheTask) {
  const Output a = Placeholder(DType::kFloat, PartialShape(), "a");
  std::vector<Output> products;
  for (int task = 0; task < 2; ++task) {
    const DeviceScope on(fmt::format("/job:ps/task:{}", task));
    products.push_back(OpBuilder("MatMul").Input(a).Input(a).Name("b").Build());
  }
  Session session(graph_, {.target = Target(0)});
  for (int task = 0; task < 2; ++task) {
    const Status status = StatusOf([&] {
      session.Run({{a, Tensor::Zeros(DType::kFloat, {2, 3})}}, products[task]);
    });
    EXPECT_TRUE(status.message().starts_with(
        fmt::format("[MatMul {}] on /job:ps/task:{}: ", products[task].node()->name(), task)))
        << status.message();
    EXPECT_EQ(status.message().find("/job:"), status.message().rfind("/job:")) << status.message();
  }
  cluster_.Stop(0);
  const Status gone = StatusOf([&] { session.Run({{a, Tensor(1.0f)}}, Square(a)); });
  EXPECT_EQ(gone.code(), Code::kUnavailable);
  EXPECT_EQ(gone.message(), fmt::format("/job:ps/task:0 is gone: nobody listens at localhost:{}",
                                        cluster_.port(0)));
}

TEST_F(ClientSessionTest, VariablesThatARestartedServerHasLostAreNamed) {
  const Variable w("w", Tensor(1.0f)), unused("unused", Tensor(1.0f));
  Variable other;
  {
    const DeviceScope on("/job:ps/task:1");
    other = Variable("other", Tensor(1.0f));
  }
  const Output sum = w.Read() + other.Read(), one = Const(Tensor(1.0f));
  Session session(graph_, {.target = Target(0)});
  session.Run(GlobalVariablesInitializer());
  EXPECT_EQ(session.Run(sum).scalar<float>(), 2.0f);
  cluster_.Stop(0);
  cluster_.Start(0);
  for (const bool grown : {false, true}) {
    const Status status = StatusOf([&] { session.Run(grown ? sum + one : sum); });
    EXPECT_EQ(status.code(), Code::kAborted);
    EXPECT_EQ(status.message(),
              "/job:ps/task:0 was restarted and its variables are gone, w among them: initialise "
              "or restore them in a new session");
  }
  const Status without = StatusOf([&] { session.Run(one); });
  EXPECT_EQ(without.code(), Code::kAborted);
  EXPECT_TRUE(without.message().starts_with("/job:ps/task:0 was restarted and does not know"))
      << without.message();
  Session again(graph_, {.target = Target(0)});
  again.Run(w.initializer());
  EXPECT_EQ(again.Run(sum).scalar<float>(), 2.0f);
}

TEST_F(ClientSessionTest, TracesTellWhatTheServerRan) {
  const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
  const Output y = Sum(Square(x), {0});
  const FeedMap feeds = {{x, Tensor::Of<float>({1, 2})}};
  const auto trace = [&](const std::string& target) {
    Session session(graph_, {.target = target});
    StepTrace events;
    const int64_t before = StepTrace::Now();
    EXPECT_EQ(session.Run(feeds, y, {.trace = &events}).scalar<float>(), 5.0f);
    std::vector<std::string> steps;
    for (const StepTrace::Event& event : events.events()) {
      steps.push_back(fmt::format("{} {} {} {} {}", event.node, event.op, event.device,
                                  event.output_bytes, event.implementation));
      EXPECT_TRUE(before <= event.start_ns && event.start_ns <= event.end_ns &&
                  event.end_ns <= StepTrace::Now());
    }
    std::ranges::sort(steps);  // threads run them in any order
    return steps;
  };
  const std::vector<std::string> expected = trace(cluster_.server(0).target());
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(trace(Target(0)), expected);
}

TEST_F(ClientSessionTest, DataOfThisProcessDoesNotTravel) {
  const Output one = Const(Tensor(1.0f));
  const auto next =
      data::OneShotIterator(data::FromTensors({{"x", Tensor::Of<float>({1, 2, 3})}})).GetNext();
  Session session(graph_, {.target = Target(0)});
  EXPECT_EQ(session.Run(one).scalar<float>(), 1.0f);
  const Status status = StatusOf([&] { session.Run(next["x"] * 2.0f); });
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("holds data of this process: put it on the task of the session, "
                                  "or run the session on a server of this process"),
            std::string::npos)
      << status.message();
}

}  // namespace
}  // namespace sextant::dist
