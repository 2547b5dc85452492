// Runs in which a node of another task waits for another node of the same run: they end, as in one
// process.
#include "sextant/runtime/waiting_nodes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"

namespace sextant {
namespace {

class WaitingNodesTest : public LocalClusterFixture {
 protected:
  static Output QueueOn(const char* task, const std::string& name, int64_t capacity = 5) {
    const DeviceScope on(task);
    return FIFOQueue({DType::kFloat}, {.capacity = capacity, .shapes = {Shape()}, .name = name});
  }
  // In one process and on the tasks; a run that waits for ever fails instead.
  void ExpectValues(const std::vector<Output>& fetches, const std::vector<Operation>& targets,
                    const std::vector<float>& expected) {
    Session alone(graph_), session(graph_, {}, cluster_.environment(0));
    for (Session* each : {&alone, &session}) {
      each->Run(GlobalVariablesInitializer());
      for (int i = 0; i < 10; ++i) {
        const auto values = each->Run({}, fetches, targets, {.deadline = std::chrono::minutes(1)});
        for (size_t k = 0; k < expected.size(); ++k)
          ASSERT_EQ(values[k].scalar<float>(), expected[k]) << k;
      }
    }
    EXPECT_EQ(cluster_.running(), 0);
  }
};

// The dequeue is on its way when the variable is read, squared here and put into the queue.
TEST_F(WaitingNodesTest, ADequeueWaitsForAnEnqueueThatComesFromHere) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output queue = QueueOn(kPs0, "q");
  const Output got = QueueDequeue(queue)[0];
  const Operation put = QueueEnqueue(queue, {Square(w.value()) + 1.0f});
  ExpectValues({got, got * 2.0f}, {put}, {10, 20});
}

TEST_F(WaitingNodesTest, WhicheverWasMadeFirst) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output queue = QueueOn(kPs0, "q");
  const Operation put = QueueEnqueue(queue, {Square(w.value()) + 1.0f});
  const Output got = QueueDequeue(queue)[0];
  ExpectValues({got}, {put}, {10});
}

TEST_F(WaitingNodesTest, WhatFollowsADequeueKeepsNothingElseWaiting) {
  const Variable w = VariableOn(kPs0, "w", 3), v = VariableOn(kPs1, "v", 2);
  const Output queue = QueueOn(kPs0, "q");
  Output behind, beside;
  {
    const DeviceScope on(kPs0);
    behind = Neg(QueueDequeue(queue)[0]) * w.value();
  }
  {
    const DeviceScope on(kPs1);
    beside = Exp(Log(v.value()));
    behind = behind + beside;
  }
  const Operation put = QueueEnqueue(queue, {w.value() + v.value()});
  ExpectValues({behind}, {put}, {-13});
}

TEST_F(WaitingNodesTest, WaitsMayFormAChainOverTasks) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output first = QueueOn(kPs0, "first"), second = QueueOn(kPs1, "second");
  const Output result = QueueDequeue(second)[0];
  const Operation move = QueueEnqueue(second, {QueueDequeue(first)[0] + 1.0f});
  const Operation put = QueueEnqueue(first, {Square(w.value())});
  ExpectValues({result}, {move, put}, {10});
}

// The first enqueue is made of what the second one brings.
TEST_F(WaitingNodesTest, AnEnqueueMayWaitForALaterOne) {
  const Output queue = QueueOn(kPs0, "q");
  const Output got = QueueDequeue(queue)[0];
  const Operation again = QueueEnqueue(queue, {got + 1.0f});
  const Operation put = QueueEnqueue(queue, {Const(Tensor(5.0f))});
  Session session(graph_, {}, cluster_.environment(0));
  const auto values =
      session.Run({}, std::vector{got}, {again, put}, {.deadline = std::chrono::minutes(1)});
  EXPECT_EQ(values[0].scalar<float>(), 5.0f);
  EXPECT_EQ(session.Run(got).scalar<float>(), 6.0f);
}

TEST_F(WaitingNodesTest, OneEndOfAQueueKeepsItsOrder) {
  const Output queue = QueueOn(kPs0, "q", 20);
  std::vector<Output> got;
  std::vector<Operation> puts;
  for (int i = 0; i < 4; ++i)
    puts.push_back(QueueEnqueue(queue, {Const(Tensor(static_cast<float>(i)))}));
  for (int i = 0; i < 4; ++i) got.push_back(QueueDequeue(queue)[0]);
  ExpectValues(got, puts, {0, 1, 2, 3});
}

// An end by itself waits for nobody in the run: it shares its call.
TEST_F(WaitingNodesTest, WhatNobodyReleasesNeedsNoCallOfItsOwn) {
  const Variable w = VariableOn(kPs0, "w", 3);
  const Output queue = QueueOn(kPs0, "q");
  Operation put;
  {
    const DeviceScope on(kPs0);
    put = QueueEnqueue(queue, {Square(w.value())});
  }
  Session session(graph_, {}, cluster_.environment(0));
  session.Run(GlobalVariablesInitializer());
  const int before = cluster_.calls();
  session.Run({}, std::vector<Output>{w.value()}, {put});
  EXPECT_EQ(cluster_.calls() - before, 1);
}

}  // namespace
}  // namespace sextant
