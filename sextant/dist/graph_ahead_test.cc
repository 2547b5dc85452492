#include "sextant/dist/graph_ahead.h"

#include <gtest/gtest.h>

#include "sextant/dist/grpc_target.h"
#include "sextant/net/channel.h"
#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

constexpr int64_t kLarge = int64_t{20} << 20;  // elements of 4 bytes: more than a message holds

// i modulo "period" for each element i, and their sum.
struct LargeValue {
  explicit LargeValue(int32_t period) : value(DType::kInt32, {kLarge}) {
    for (int64_t i = 0; i < kLarge; ++i) {
      value.data<int32_t>()[i] = static_cast<int32_t>(i % period);
      sum += value.data<int32_t>()[i];
    }
  }
  Tensor value;
  int32_t sum = 0;
};

// The sum of all elements and x times their number, made on the task.
Output SumOn(int task, const Tensor& value, const Output& x) {
  const DeviceScope on("/job:ps/task:" + std::to_string(task));
  return ReduceSum(Const(value) + x);
}

TEST(GraphAheadTest, LargeConstantsCrossToAnotherTask) {
  TestCluster cluster(2);
  const LargeValue large(5);
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kInt32, {}, "x");
  const Output sum = SumOn(1, large.value, x);
  Session session(graph, {.target = cluster.server(0).target()});
  for (const int32_t add : {0, 3}) {
    EXPECT_EQ(session.Run({{x, Tensor(add)}}, sum).scalar<int32_t>(),
              large.sum + add * static_cast<int32_t>(kLarge));
  }
}

TEST(GraphAheadTest, LargeGraphsOfClientsCross) {
  TestCluster cluster(2);
  FaultProxy proxy(cluster.port(0));
  RegisterGrpcTargets();
  const LargeValue first(5), second(11);
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kInt32, {}, "x");
  const Output here = SumOn(0, first.value, x);
  proxy.CutAfter(FaultProxy::Way::kToServer, int64_t{30} << 20);  // sent again
  Session session(graph, {.target = "grpc://" + proxy.address()});
  EXPECT_EQ(session.Run({{x, Tensor(0)}}, here).scalar<int32_t>(), first.sum);
  const Output there = SumOn(1, second.value, x);  // the graph grows
  EXPECT_EQ(session.Run({{x, Tensor(0)}}, there).scalar<int32_t>(), second.sum);
  EXPECT_EQ(session.Run({{x, Tensor(0)}}, here).scalar<int32_t>(), first.sum);
  EXPECT_EQ(proxy.cuts(), 1);
}

TEST(GraphAheadTest, CancelledWhilePartsAreSent) {
  TestCluster cluster(1);
  FaultProxy proxy(cluster.port(0));
  const auto peer = cluster.NewPeer(0, proxy.address());
  CancellationToken token;
  peer->Connect(token);
  proxy.Set({.stall = true});
  const std::string graph_def(3 * net::kPartBytes, 'x');
  GraphAhead graph(*peer, graph_def);
  const auto start = std::chrono::steady_clock::now();
  const auto deadline = DeadlineTimer::Schedule(start + std::chrono::milliseconds(200), token);
  EXPECT_EQ(StatusOf([&] { graph.Send(token); }).code(), Code::kDeadlineExceeded);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(GraphAheadTest, MalformedGraphIsAnErrorAndTheNextOneRuns) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  auto fragment = std::make_shared<Fragment>();
  fragment->task = TaskName("ps", 0);
  fragment->graph_def = std::string(2 * net::kPartBytes, '\xff');
  fragment->fingerprint = 1;
  EXPECT_EQ(StatusOf([&] { Call(*peer, fragment); }).code(), Code::kDataLoss);
  const CounterFragments counter(0);
  Call(*peer, counter.init);
  EXPECT_EQ(Call(*peer, counter.add).scalar<int64_t>(), 1);
}

}  // namespace
}  // namespace sextant::dist
