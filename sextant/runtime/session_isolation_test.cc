// Sessions of one task: what they share and what each has for itself. Expected values are those of
// the same graph in one process.
#include <gtest/gtest.h>

#include <memory>

#include "sextant/device/resource_manager.h"
#include "sextant/ops/dataset/iterator.h"
#include "sextant/ops/dataset/iterator_states.h"
#include "sextant/runtime/task_session.h"
#include "sextant/sextant.h"
#include "sextant/testing/local_task.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

constexpr char kOwnTask[] = "/job:worker/replica:0/task:0";
constexpr char kOtherTask[] = "/job:ps/replica:0/task:0";

class SessionIsolationTest : public ::testing::Test {
 protected:
  SessionIsolationTest() : cluster_({kOwnTask, kOtherTask}) {}

  std::unique_ptr<Session> NewSession(const Graph& graph) {
    return std::make_unique<Session>(graph, SessionOptions{}, cluster_.environment(0));
  }

  LocalCluster cluster_;
};

std::vector<float> ValuesOf(const Tensor& tensor) {
  return {tensor.data<float>(), tensor.data<float>() + tensor.num_elements()};
}

// Each Run gives the next number.
struct Numbers {
  explicit Numbers(const std::vector<float>& values) {
    const GraphScope use(graph);
    Tensor data(DType::kFloat, Shape({static_cast<int64_t>(values.size())}));
    std::copy(values.begin(), values.end(), data.data<float>());
    next = data::OneShotIterator(data::FromTensorSlices({{"x", data}})).GetNext()["x"] * 1.0f;
  }
  Graph graph;
  Output next;
};

TEST_F(SessionIsolationTest, EverySessionIteratesByItself) {
  Numbers training({1, 2, 3, 4}), evaluation({100, 200, 300});
  auto first = NewSession(training.graph);
  EXPECT_EQ(first->Run(training.next).scalar<float>(), 1);
  EXPECT_EQ(first->Run(training.next).scalar<float>(), 2);
  EXPECT_EQ(NewSession(evaluation.graph)->Run(evaluation.next).scalar<float>(), 100);
  EXPECT_EQ(NewSession(evaluation.graph)->Run(evaluation.next).scalar<float>(), 100);
  EXPECT_EQ(first->Run(training.next).scalar<float>(), 3);
  EXPECT_EQ(NewSession(training.graph)->Run(training.next).scalar<float>(), 1);
}

// Random numbers made by another task, outside and inside a loop, three runs of each.
struct Draws {
  explicit Draws(int64_t seed) {
    const GraphScope use(graph);
    const DeviceScope on(kOtherTask);
    plain = RandomUniform({3}, {.seed = seed});
    looped =
        While([](const auto& at) { return Less(at[0], Const(Tensor(2))); },
              [&](const auto& at) {
                return std::vector<Output>{at[0] + 1, at[1] + RandomUniform({3}, {.seed = seed})};
              },
              {Const(Tensor(0)), Const(Tensor::Of<float>({0, 0, 0}))})[1];
  }
  std::vector<float> Run(Session& session) const {
    std::vector<float> all;
    for (const Output& output : {plain, looped, plain}) {
      for (const float value : ValuesOf(session.Run(output))) all.push_back(value);
    }
    return all;
  }
  Graph graph;
  Output plain, looped;
};

TEST_F(SessionIsolationTest, SeedsCountInEverySession) {
  for (const int64_t seed : {1, 2, 1}) {
    const Draws draws(seed);
    Session local(draws.graph);
    EXPECT_EQ(draws.Run(*NewSession(draws.graph)), draws.Run(local)) << seed;
  }
}

TEST_F(SessionIsolationTest, SessionsWithTheSameFragmentHaveStreamsOfTheirOwn) {
  const Draws draws(3);
  Session local(draws.graph);
  const std::vector<float> first = draws.Run(local), second = draws.Run(local);
  auto a = NewSession(draws.graph), b = NewSession(draws.graph);
  EXPECT_EQ(draws.Run(*a), first);
  EXPECT_EQ(draws.Run(*b), first);
  EXPECT_EQ(draws.Run(*a), second);
  EXPECT_EQ(draws.Run(*b), second);
  EXPECT_EQ(cluster_.sessions(1), 2u);
  a.reset();
  EXPECT_EQ(cluster_.sessions(1), 1u);
  b.reset();
  EXPECT_EQ(cluster_.sessions(1), 0u);
}

TEST_F(SessionIsolationTest, SessionsThatFollowEachOtherAsOneGoOn) {
  const Draws draws(3);
  Session local(draws.graph);
  const std::vector<float> first = draws.Run(local), second = draws.Run(local);
  SessionEnvironment environment = cluster_.environment(0);
  environment.session = std::make_shared<TaskSession>(*environment.resources, *environment.tasks);
  auto session = std::make_unique<Session>(draws.graph, SessionOptions{}, environment);
  EXPECT_EQ(draws.Run(*session), first);
  session = std::make_unique<Session>(draws.graph, SessionOptions{}, environment);
  EXPECT_EQ(draws.Run(*session), second);
  cluster_.EndSession(environment.session->id());
  const Status status = StatusOf([&] { draws.Run(*session); });
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_NE(status.message().find("random streams of this session"), std::string::npos)
      << status.message();
}

// A table, a queue and a variable of a task; all but the variable have the shared name, if any.
struct SharedThings {
  SharedThings(const char* task, float value, const std::string& name) {
    const GraphScope use(graph);
    const DeviceScope on(task);
    const Output one = Const(Tensor::Of<int64_t>({1})), content = Const(Tensor(value));
    const Output table = HashTable(DType::kInt64, DType::kFloat, {.shared_name = name});
    set = InitializeTable(table, one, Const(Tensor::Of<float>({value})));
    found = LookupTableFind(table, one, Const(Tensor(-1.0f)));
    const Output queue = FIFOQueue(
        {DType::kFloat}, {.capacity = 3, .shared_name = name.empty() ? name : name + "/queue"});
    put = QueueEnqueue(queue, {content});
    taken = QueueDequeue(queue)[0];
    variable = Variable("v", Tensor(value));
  }
  Graph graph;
  Operation set, put;
  Output found, taken;
  Variable variable;
};

TEST_F(SessionIsolationTest, WhatHasNoSharedNameIsOfOneSession) {
  for (const char* task : {kOwnTask, kOtherTask}) {
    const SharedThings ten(task, 10, ""), twenty(task, 20, "");
    auto first = NewSession(ten.graph), second = NewSession(twenty.graph);
    for (const auto& [session, graph] : {std::pair(first.get(), &ten), {second.get(), &twenty}}) {
      session->Run(graph->set);
      session->Run(graph->put);
    }
    EXPECT_EQ(first->Run(ten.found).data<float>()[0], 10) << task;
    EXPECT_EQ(second->Run(twenty.found).data<float>()[0], 20) << task;
    EXPECT_EQ(first->Run(ten.taken).scalar<float>(), 10) << task;
    EXPECT_EQ(second->Run(twenty.taken).scalar<float>(), 20) << task;
  }
}

TEST_F(SessionIsolationTest, VariablesAndWhatHasASharedNameAreOfAllSessions) {
  for (const char* task : {kOwnTask, kOtherTask}) {
    const SharedThings ten(task, 10, "named"), twenty(task, 20, "named");
    auto first = NewSession(ten.graph);
    for (const Operation& operation : {ten.set, ten.put, ten.put, ten.variable.initializer()})
      first->Run(operation);
    auto second = NewSession(twenty.graph);
    EXPECT_EQ(second->Run(twenty.found).data<float>()[0], 10) << task;
    EXPECT_EQ(second->Run(twenty.taken).scalar<float>(), 10) << task;
    EXPECT_EQ(second->Run(twenty.variable.value()).scalar<float>(), 10) << task;
    first.reset();
    EXPECT_EQ(NewSession(twenty.graph)->Run(twenty.taken).scalar<float>(), 10) << task;
  }
}

TEST_F(SessionIsolationTest, ARestartIsToldToSessionsThatKnewTheTask) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope on(kOtherTask);
  const Variable w("w", Tensor(3.0f));
  const auto before = NewSession(graph), idle = NewSession(graph);
  before->Run(w.initializer());
  cluster_.Restart(1);
  const auto after = NewSession(graph);
  for (Session* session : {after.get(), idle.get()}) {
    session->Run(w.initializer());
    EXPECT_EQ(session->Run(w.value()).scalar<float>(), 3);
  }
  EXPECT_EQ(StatusOf([&] { before->Run(w.value()); }).code(), Code::kAborted);
  EXPECT_EQ(before->Run(w.value()).scalar<float>(), 3);  // what others have set
}

TEST_F(SessionIsolationTest, PositionsOfASessionAreItsOwn) {
  Numbers numbers({1, 2, 3, 4});
  auto first = NewSession(numbers.graph), second = NewSession(numbers.graph);
  first->Run(numbers.next);
  first->Run(numbers.next);
  second->Run(numbers.next);
  const auto of_first = data::SaveIteratorStates(first->resources());
  const auto of_second = data::SaveIteratorStates(second->resources());
  auto third = NewSession(numbers.graph), fourth = NewSession(numbers.graph);
  data::RestoreIteratorStates(of_first, third->resources());
  data::RestoreIteratorStates(of_second, fourth->resources());
  EXPECT_EQ(third->Run(numbers.next).scalar<float>(), 3);
  EXPECT_EQ(fourth->Run(numbers.next).scalar<float>(), 2);
}

TEST_F(SessionIsolationTest, APositionIsRestoredBeforeItsSharedIteratorIsThere) {
  Graph graph;
  const GraphScope use(graph);
  const auto dataset = data::FromTensorSlices({{"x", Tensor::Of<float>({1, 2, 3, 4})}});
  const data::GraphIterator shape(dataset.Spec());
  const Node& like = *shape.handle().node();
  const Output iterator =
      OpBuilder("IteratorV2")
          .Attr("shared_name", "numbers")
          .Attr("container", "")
          .Attr("output_types", like.attr<std::vector<DType>>("output_types"))
          .Attr("output_shapes", like.attr<std::vector<PartialShape>>("output_shapes"))
          .Build();
  const Operation begin = MakeIterator(iterator, dataset, "begin");
  const Output next = IteratorGetNext(iterator, "next")[0];
  auto first = NewSession(graph);
  first->Run(begin);
  first->Run(next);
  EXPECT_EQ(NewSession(graph)->Run(next).scalar<float>(), 2);  // it is shared
  const auto states = data::SaveIteratorStates(first->resources());
  LocalCluster other({kOwnTask, kOtherTask});
  Session second(graph, {}, other.environment(0)), third(graph, {}, other.environment(0));
  data::RestoreIteratorStates(states, second.resources());
  second.Run(begin);
  EXPECT_EQ(second.Run(next).scalar<float>(), 3);
  EXPECT_EQ(third.Run(next).scalar<float>(), 4);
}

}  // namespace
}  // namespace sextant
