// Loops and lists on the tasks of servers.
#include <gtest/gtest.h>

#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

// The loop, its variable and the session are each on a task of their own.
TEST(RemoteLoopsTest, LoopsTrainAsInOneProcess) {
  TestCluster cluster(3);
  Graph graph;
  const GraphScope use(graph);
  Variable w;
  {
    const DeviceScope on("/job:ps/task:1");
    w = Variable("w", Tensor(0.5f));
  }
  const Output x = Placeholder(DType::kFloat, {}, "x");
  for (const char* task : {"/job:ps/task:2", "/job:ps/task:1", "/job:ps/task:0"}) {
    SCOPED_TRACE(task);
    Output y;
    {
      const DeviceScope on(task);
      y = While([](const auto& v) { return Less(v[0], Const(Tensor(3))); },
                [&](const auto& v) {
                  return std::vector<Output>{v[0] + Const(Tensor(1)), Tanh(v[1] * w.value())};
                },
                {Const(Tensor(0)), x})[1];
    }
    const Operation step = train::GradientDescent({.learning_rate = 0.1f}).Minimize(y * 2.0f);
    Session alone(graph), clustered(graph, {.target = cluster.server(0).target()});
    for (Session* session : {&alone, &clustered}) session->Run(w.initializer());
    for (int run = 0; run < 3; ++run) {
      const FeedMap feeds = {{x, Tensor(1.5f)}};
      for (Session* session : {&alone, &clustered}) session->Run(feeds, step);
      const Tensor expected = alone.Run(w.value()), result = clustered.Run(w.value());
      ASSERT_TRUE(result.Identical(expected))
          << result.ToString() << " for " << expected.ToString();
    }
  }
}

TEST(RemoteLoopsTest, AListIsKeptForItsTaskAlone) {
  TestCluster cluster(2);
  const auto peer = cluster.NewPeer(0), other_peer = cluster.NewPeer(1);
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({}), "x");
  const Output kept = Placeholder(DType::kVariant, PartialShape(), "kept");
  const Output scalars = Const(Tensor::FromVector(std::vector<int32_t>{}));
  const Output list = TensorListPushBack(EmptyTensorList(scalars, DType::kFloat), x);
  const Output plain = Neg(x);
  const Output item = TensorListGetItem(kept, Const(Tensor(0)), scalars, DType::kFloat);
  const auto maker = MakeFragment(graph, 0, {x}, {});
  maker->kept = {list.name(), plain.name()};
  const auto reader = [&](int task, int32_t position) {
    auto fragment = MakeFragment(graph, task, {}, {item});
    fragment->kept_inputs = {{.tensor = kept.name(),
                              .task = maker->task,
                              .maker = maker->fingerprint,
                              .position = position}};
    return fragment;
  };
  CancellationToken never;
  peer->Start(maker, 7, {Tensor(3.0f)})->Wait({}, never);
  const auto here = reader(0, 0);
  std::vector<Tensor> outputs(1);
  peer->Start(here, 7, {})->Wait(outputs, never);
  EXPECT_EQ(outputs[0].scalar<float>(), 3.0f);
  // It does not travel, and what is no list is not taken for one.
  Status status = StatusOf([&] { other_peer->Start(reader(1, 0), 7, {})->Wait(outputs, never); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
  EXPECT_NE(status.message().find("variant"), std::string::npos) << status.message();
  status = StatusOf([&] { peer->Start(reader(0, 1), 7, {})->Wait(outputs, never); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
  status = StatusOf([&] {
    peer->Start(MakeFragment(graph, 0, {x}, {list}), 7, {Tensor(3.0f)})->Wait(outputs, never);
  });
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.message();
  peer->EndRun(7);
  while (true) {  // the task is told, not waited for
    if (StatusOf([&] { peer->Start(here, 7, {})->Wait(outputs, never); }).code() == Code::kNotFound)
      break;
  }
}

}  // namespace
}  // namespace sextant::dist
