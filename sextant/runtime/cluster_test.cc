// Graphs that run on several tasks: cut, called, failed, cancelled. The tasks are in the process.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sextant/device/resource_manager.h"
#include "sextant/runtime/session_target.h"
#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class ClusterTest : public LocalClusterFixture {
 protected:
  static Output Named(const char* op, Output x, const char* name) {
    return OpBuilder(op).Input(x).Name(name).Build();
  }
};

TEST_F(ClusterTest, WorkRunsOnTheTaskItAsksFor) {
  const Output x = Placeholder(DType::kFloat, {-1}, "x");
  const Output y = On(kPs0, [&] { return Named("Square", Named("Neg", x, "a"), "b"); });
  const Output z = On("/job:ps/task:1", [&] { return Named("Exp", y, "c"); });
  Session session(graph_, {}, cluster_.environment(0));
  EXPECT_EQ(session.devices().size(), 3u);
  const Tensor result = session.Run({{x, Tensor::Of<float>({0, 1})}}, z + y);
  EXPECT_FLOAT_EQ(result.data<float>()[1], std::exp(1.0f) + 1.0f);
  EXPECT_EQ(cluster_.calls(), 2);
  EXPECT_EQ(cluster_.kept_runs(1), 0u);  // what the first kept for the second is gone
  // Another batch registers nothing new.
  session.Run({{x, Tensor::Of<float>({0, 1, 2})}}, z + y);
  EXPECT_EQ(cluster_.fragments(1), 1u);
  EXPECT_EQ(cluster_.fragments(2), 1u);
}

TEST_F(ClusterTest, VariablesLiveWhereTheyArePlaced) {
  const Variable w = VariableOn(kPs0, "w", Tensor::Of<float>({1, 2}));
  const Output x = Placeholder(DType::kFloat, {2}, "x");
  const Output sum = Sum(w.value() * x, {0});
  const Output next = w.AssignAdd(x);
  const auto run = [&](Session& session) {
    return session.Run({{x, Tensor::Of<float>({10, 20})}}, sum).scalar<float>();
  };
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(w.initializer());
  EXPECT_EQ(run(session), 50.0f);
  session.Run({{x, Tensor::Of<float>({1, 1})}}, next);
  // Sessions of the same task and of others share it.
  Session other(graph_, {}, cluster_.environment(2));
  EXPECT_EQ(run(other), 2 * 10 + 3 * 20.0f);
  EXPECT_EQ(session.resources().All().size(), 0u);
}

TEST_F(ClusterTest, StepOfAWorkerTakesTwoCallsAServer) {
  const Variable w = VariableOn(kPs0, "w", Tensor::Of<float>({1, 2}));
  const Variable b = VariableOn(kPs1, "b", Tensor::Of<float>({0, 0}));
  const Output x = Placeholder(DType::kFloat, {2}, "x");
  const Output loss = Sum(Square(w.value() * x + b.value()), {0});
  auto optimizer = train::GradientDescentOptimizer(0.01f);
  const Operation train = optimizer.Minimize(loss);
  Session session(graph_, {}, cluster_.environment(0));
  session.Run({}, {}, {w.initializer(), b.initializer()});
  const int before = cluster_.calls();
  session.Run({{x, Tensor::Of<float>({1, 1})}}, train);
  EXPECT_EQ(cluster_.calls() - before, 4);
  // w -= 0.01 * 2 (w x + b) x
  EXPECT_TRUE(session.Run(w.value()).Identical(Tensor::Of<float>({0.98f, 1.96f})));
  EXPECT_TRUE(session.Run(b.value()).Identical(Tensor::Of<float>({-0.02f, -0.04f})));
}

// Back and forth: as many calls as levels, however many nodes a level has.
TEST_F(ClusterTest, CallsAreAsManyAsLevels) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  Session session(graph_, {}, cluster_.environment(0));
  Output y = x;
  for (int levels = 1; levels <= 5; ++levels) {
    y = On(kPs0, [&] { return Square(y) + Neg(y) + Abs(y); });
    y = y * Const(Tensor(0.5f));
    const int before = cluster_.calls();
    session.Run({{x, Tensor(0.5f)}}, y);
    EXPECT_EQ(cluster_.calls() - before, levels);
  }
}

TEST_F(ClusterTest, ErrorsNameTheNodeAndTheTask) {
  const Output x = Placeholder(DType::kFloat, PartialShape(), "x");
  const Output y =
      On(kPs1, [&] { return OpBuilder("MatMul").Input(x).Input(x).Name("b").Build(); });
  Session session(graph_, {}, cluster_.environment(0));
  const Status status = StatusOf([&] { session.Run({{x, Tensor::Of<float>({1, 2})}}, Exp(y)); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("[MatMul b] on /job:ps/task:1: ")) << status.message();
  EXPECT_EQ(cluster_.running(), 0);
  // Afterwards the session is as it was.
  Tensor matrix(DType::kFloat, {1, 1});
  matrix.data<float>()[0] = 2.0f;
  EXPECT_EQ(session.Run({{x, matrix}}, y).data<float>()[0], 4.0f);
}

// Waits on a call's thread until its token is cancelled.
void AwaitCancellation(CancellationToken& token) {
  std::mutex mutex;
  std::condition_variable changed;
  bool cancelled = false;
  const auto wake = token.OnCancel([&] {
    const std::lock_guard lock(mutex);
    cancelled = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return cancelled; });
}

// The call would never end by itself: it starts first, and a step here fails.
TEST_F(ClusterTest, FailureOfAStepCancelsTheCalls) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output slow = On(kPs0, [&] { return Named("Square", x, "slow"); });
  const Output shape = Placeholder(DType::kInt32, {1}, "shape");
  const Output bad = OpBuilder("Reshape").Input(x).Input(shape).Name("bad").Build();
  cluster_.set_on_call([&](const Fragment&, CancellationToken& token) {
    AwaitCancellation(token);
    token.ThrowIfCancelled();
  });
  Session session(graph_, {}, cluster_.environment(0));
  const Status status = StatusOf([&] {
    session.Run({{x, Tensor(1.0f)}, {shape, Tensor::Of<int32_t>({7})}}, {bad, slow});
  });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("[Reshape bad] ")) << status.message();
  EXPECT_EQ(cluster_.calls(), 1);
  EXPECT_EQ(cluster_.running(), 0);
}

// Whichever is waited for first: the other call would never end by itself.
TEST_F(ClusterTest, FailureOfACallEndsTheWaitForAnother) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = On(kPs0, [&] { return Named("Square", x, "y"); });
  const Output z = On(kPs1, [&] { return Named("Square", x, "z"); });
  for (const char* failing : {kPs0, kPs1}) {
    cluster_.set_on_call([&](const Fragment& fragment, CancellationToken& token) {
      if (fragment.task == failing) throw Error(Code::kUnavailable, "gone");
      AwaitCancellation(token);
      token.ThrowIfCancelled();
    });
    Session session(graph_, {}, cluster_.environment(0));
    const Status status = StatusOf([&] { session.Run({{x, Tensor(1.0f)}}, {y, z}); });
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_NE(status.message().find(ShortTaskName(failing)), std::string::npos) << status.message();
    EXPECT_EQ(cluster_.running(), 0);
  }
}

TEST_F(ClusterTest, CancellingARunCancelsItsCalls) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = On(kPs0, [&] { return Named("Square", x, "y"); });
  CancellationToken caller;
  cluster_.set_on_call([&](const Fragment&, CancellationToken& token) {
    caller.Cancel(Status(Code::kCancelled, "enough"));
    AwaitCancellation(token);
    token.ThrowIfCancelled();
  });
  Session session(graph_, {}, cluster_.environment(0));
  const Status status = StatusOf([&] {
    session.Run({{x, Tensor(1.0f)}}, std::vector<Output>{y}, {}, {.cancellation = &caller});
  });
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(cluster_.running(), 0);
}

TEST_F(ClusterTest, ClosingTheSessionCancelsItsCalls) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = On(kPs0, [&] { return Named("Square", x, "y"); });
  Session session(graph_, {}, cluster_.environment(0));
  cluster_.set_on_call([&](const Fragment&, CancellationToken& token) {
    session.Close();
    AwaitCancellation(token);
    token.ThrowIfCancelled();
  });
  EXPECT_EQ(StatusOf([&] { session.Run({{x, Tensor(1.0f)}}, y); }).code(), Code::kCancelled);
  EXPECT_EQ(cluster_.running(), 0);
}

TEST_F(ClusterTest, ARestartedTaskSaysWhatIsGone) {
  const Variable w = VariableOn(kPs0, "w", Tensor(1.0f));
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(w.initializer());
  EXPECT_EQ(session.Run(w.value()).scalar<float>(), 1.0f);
  cluster_.Restart(1);
  const Status status = StatusOf([&] { session.Run(w.value()); });
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_NE(status.message().find("/job:ps/task:0"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(" w "), std::string::npos) << status.message();
  session.Run(w.initializer());
  EXPECT_EQ(session.Run(w.value()).scalar<float>(), 1.0f);
}

TEST_F(ClusterTest, SoftPlacementStaysInTheTask) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = On("/job:ps/task:1/device:GPU:3", [&] { return Named("Square", x, "y"); });
  const Output lost = On("/job:ps/task:7", [&] { return Named("Square", x, "lost"); });
  Session session(graph_, {}, cluster_.environment(0));
  EXPECT_EQ(session.Run({{x, Tensor(3.0f)}}, y).scalar<float>(), 9.0f);
  EXPECT_EQ(cluster_.fragments(2), 1u);
  const Status status = StatusOf([&] { session.Run({{x, Tensor(3.0f)}}, lost); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("there is no such task"), std::string::npos) << status.message();
  Session strict(graph_, {.allow_soft_placement = false}, cluster_.environment(0));
  EXPECT_EQ(StatusOf([&] { strict.Run({{x, Tensor(3.0f)}}, y); }).code(), Code::kInvalidArgument);
}

TEST_F(ClusterTest, WhatWorksOnAResourceGoesWithIt) {
  const Variable w = VariableOn(kPs0, "w", Tensor(2.0f));
  const Output read = On(kPs1, [&] { return ReadVariable(w.handle()); });
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(w.initializer());
  EXPECT_EQ(session.Run(Exp(Log(read))).scalar<float>(), 2.0f);
  EXPECT_EQ(cluster_.fragments(2), 0u);
  Session strict(graph_, {.allow_soft_placement = false}, cluster_.environment(0));
  const Status status = StatusOf([&] { strict.Run(read); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find(kPs0), std::string::npos) << status.message();
}

TEST_F(ClusterTest, ResourcesAreNotFetched) {
  const Output q = On(kPs0, [&] {
    return OpBuilder("FIFOQueueV2")
        .Attr("component_types", std::vector<DType>{DType::kFloat})
        .Name("q")
        .Build();
  });
  Session session(graph_, {}, cluster_.environment(0));
  const Status status = StatusOf([&] { session.Run(OpBuilder("Identity").Input(q).Build()); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
}

TEST_F(ClusterTest, DataOfThisProcessStaysHere) {
  Output next;
  {
    DeviceScope on(kPs0);
    next = data::OneShotIterator(data::Range(0, 5)).GetNext().fields()[0].second;
  }
  const Output here =
      data::OneShotIterator(data::Range(0, 5), {.name = "here"}).GetNext().fields()[0].second;
  const Output far = On(kPs0, [&] { return Square(here); });
  Session session(graph_, {}, cluster_.environment(0));
  EXPECT_EQ(session.Run({far, far})[0].AsInt64(), 0);
  EXPECT_EQ(session.Run(far).AsInt64(), 1);
  const Status status = StatusOf([&] { session.Run(next); });
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_NE(status.message().find("[IteratorV2 iterator]"), std::string::npos) << status.message();
}

// v = x; three times: v = v * w + 1
Output Loop(Output x, const Variable& w) {
  return While(
      [](const std::vector<Output>& v) { return Less(v[1], Const(Tensor(3))); },
      [&](const std::vector<Output>& v) {
        return std::vector<Output>{v[0] * w.value() + Const(Tensor(1.0f)), v[1] + Const(Tensor(1))};
      },
      {x, Const(Tensor(0))})[0];
}

TEST_F(ClusterTest, LoopsReadVariablesOfOtherTasksBeforehand) {
  const Variable w = VariableOn(kPs0, "w", Tensor(2.0f));
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output here = Loop(x, w);
  const Output there = On(kPs1, [&] { return Loop(x, w); });
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(w.initializer());
  int before = cluster_.calls();
  EXPECT_EQ(session.Run({{x, Tensor(1.0f)}}, here).scalar<float>(), 15.0f);
  EXPECT_EQ(cluster_.calls() - before, 1);  // to read
  before = cluster_.calls();
  EXPECT_EQ(session.Run({{x, Tensor(1.0f)}}, there).scalar<float>(), 15.0f);
  EXPECT_EQ(cluster_.calls() - before, 2);
}

TEST_F(ClusterTest, BranchesReadVariablesOfOtherTasksBeforehand) {
  const Variable w = VariableOn(kPs0, "w", Tensor(2.0f));
  const Output p = Placeholder(DType::kBool, {}, "p"), x = Placeholder(DType::kFloat, {}, "x");
  const Output y = Cond(
      p, [&] { return std::vector<Output>{x * w.value()}; },
      [&] { return std::vector<Output>{Identity(x)}; })[0];
  Operation assign;
  {
    const ControlDependencies after({y});
    assign = w.Assign(Const(Tensor(5.0f)));
  }
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(w.initializer());
  const auto results =
      session.Run({{x, Tensor(3.0f)}, {p, Tensor(true)}}, std::vector<Output>{y}, {assign});
  EXPECT_EQ(results[0].scalar<float>(), 6.0f);  // as it was before the assignment
  EXPECT_EQ(session.Run(w.value()).scalar<float>(), 5.0f);
}

// Three times: w += 1
Output Count(const Variable& w) {
  return While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(3))); },
               [&](const std::vector<Output>& v) {
                 const ControlDependencies after({w.AssignAdd(Const(Tensor(1.0f)))});
                 return std::vector<Output>{v[0] + Const(Tensor(1))};
               },
               {Const(Tensor(0))})[0];
}

TEST_F(ClusterTest, LoopsDoNotChangeVariablesOfOtherTasks) {
  const Variable w = VariableOn(kPs0, "w", Tensor(2.0f));
  const Output y = Count(w);
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(w.initializer());
  const Status status = StatusOf([&] { session.Run(y); });
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("variable w"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("While"), std::string::npos) << status.message();
}

TEST_F(ClusterTest, LoopsOnTheTaskOfTheirVariableMayChangeIt) {
  const Variable w = VariableOn(kPs0, "w", Tensor(2.0f));
  Output y;
  {
    DeviceScope on(kPs0);
    y = Count(w);
  }
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(w.initializer());
  session.Run(y);
  EXPECT_EQ(session.Run(w.value()).scalar<float>(), 5.0f);
}

// A sent tensor is not overwritten while the call that sends it may still read it.
TEST_F(ClusterTest, WhatIsSentStaysAsItWas) {
  const Output x = Placeholder(DType::kFloat, {4096}, "x");
  const Output a = Exp(x);
  const Output far = On(kPs0, [&] { return Neg(a); });
  Output here = a;
  for (int i = 0; i < 20; ++i) here = here * Const(Tensor(0.5f)) + a;
  cluster_.set_on_call([](const Fragment&, CancellationToken&) { std::this_thread::yield(); });
  Session session(graph_, {.optimizer = {.fuse_elementwise = false}}, cluster_.environment(0));
  Tensor feed(DType::kFloat, {4096});
  std::fill_n(feed.data<float>(), 4096, 0.0f);
  for (int run = 0; run < 20; ++run) {
    const auto results = session.Run({{x, feed}}, {far, here});
    for (int i = 0; i < 4096; ++i) ASSERT_EQ(results[0].data<float>()[i], -1.0f);
  }
}

TEST_F(ClusterTest, FetchedResourcesAreNamedWithTheirTask) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output queue = On(kPs1, [] { return FIFOQueue({DType::kFloat}); });
  const Output list =
      On(kPs1, [] { return EmptyTensorList(Const(Tensor(int32_t{-1})), DType::kFloat); });
  Session session(graph_, {}, cluster_.environment(0));
  const auto message = [&](const Output& x) { return StatusOf([&] { session.Run(x); }).message(); };
  const std::string resource = " cannot be fetched: a resource does not leave its task, /job:ps/";
  EXPECT_EQ(message(w.handle()), "w:0" + resource + "task:0");
  EXPECT_EQ(message(queue), queue.name() + resource + "task:1");
  EXPECT_EQ(message(list), list.name() +
                               " cannot be fetched: a variant does not leave its task, "
                               "/job:ps/task:1");
}

TEST_F(ClusterTest, TargetsAreFoundByTheirScheme) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = On(kPs0, [&] { return Named("Square", x, "y"); });
  RegisterTargetScheme("local_task", [&](const Graph&, const SessionOptions& options) {
    EXPECT_EQ(options.target, "local_task://worker");
    return SessionTarget{.environment = cluster_.environment(0)};
  });
  Session session(graph_, {.target = "local_task://worker"});
  EXPECT_EQ(session.Run({{x, Tensor(3.0f)}}, y).scalar<float>(), 9.0f);
  EXPECT_EQ(cluster_.calls(), 1);
  for (const char* wrong : {"local_task", "carrier://pigeon", "://"}) {
    const Status status = StatusOf([&] { Session(graph_, {.target = wrong}); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << wrong;
    EXPECT_NE(status.message().find(wrong), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace sextant
