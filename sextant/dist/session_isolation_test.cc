// Sessions of servers, over gRPC: what each has for itself. Expected values are those of the same
// graph in one process.
#include <gtest/gtest.h>

#include <chrono>

#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

using std::chrono::seconds;

// Of a session that goes over the network (server_test.cc).
std::string TargetElsewhere(const Server& server) {
  return "grpc://localhost:" + std::to_string(server.port());
}

std::vector<float> Draw(Session& session, Output random) {
  const Tensor drawn = session.Run(random);
  return {drawn.data<float>(), drawn.data<float>() + drawn.num_elements()};
}

class ServerSessionsTest : public ::testing::TestWithParam<bool> {
 protected:
  ServerSessionsTest() : cluster_(2) {}
  // Of task 0; as seen from another process with the parameter.
  std::string target() {
    return GetParam() ? TargetElsewhere(cluster_.server(0)) : cluster_.server(0).target();
  }
  TestCluster cluster_;
};

TEST_P(ServerSessionsTest, SeedsCountInEverySession) {
  for (const char* task : {"/job:ps/task:0", "/job:ps/task:1"}) {
    for (const int64_t seed : {1, 2, 1}) {
      Graph graph;
      const GraphScope use(graph);
      const DeviceScope on(task);
      const Output random = RandomUniform({3}, {.seed = seed});
      Session local(graph), session(graph, {.target = target()});
      for (int i = 0; i < 2; ++i) EXPECT_EQ(Draw(session, random), Draw(local, random)) << task;
    }
  }
}

TEST_P(ServerSessionsTest, AGraphThatGrowsGoesOnWithItsState) {
  Graph graph;
  const GraphScope use(graph);
  std::vector<Output> randoms;
  for (const char* task : {"/job:ps/task:0", "/job:ps/task:1"}) {
    const DeviceScope on(task);
    randoms.push_back(RandomUniform({3}, {.seed = 5}));
  }
  Session local(graph), session(graph, {.target = target()});
  for (int i = 0; i < 2; ++i) {
    for (const Output& random : randoms) EXPECT_EQ(Draw(session, random), Draw(local, random));
    const Output more = Const(Tensor(1.0f)) + 1.0f;
    EXPECT_EQ(session.Run(more).scalar<float>(), 2.0f);
  }
}

TEST_P(ServerSessionsTest, TablesWithoutANameAreOfOneSession) {
  for (const char* task : {"/job:ps/task:0", "/job:ps/task:1"}) {
    for (const float value : {10.0f, 20.0f}) {
      Graph graph;
      const GraphScope use(graph);
      const DeviceScope on(task);
      const Output one = Const(Tensor::Of<int64_t>({1}));
      const Output table = HashTable(DType::kInt64, DType::kFloat);
      const Operation set = InitializeTable(table, one, Const(Tensor::Of<float>({value})));
      const Output found = LookupTableFind(table, one, Const(Tensor(-1.0f)));
      Session session(graph, {.target = target()});
      session.Run(set);
      EXPECT_EQ(session.Run(found).data<float>()[0], value) << task;
    }
  }
}

TEST_P(ServerSessionsTest, ASessionTakesATaskAsItFindsIt) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope on("/job:ps/task:1");
  const Variable w("w", Tensor(3.0f));
  Session before(graph, {.target = target()}), idle(graph, {.target = target()});
  before.Run(w.initializer());
  EXPECT_EQ(before.Run(w.value()).scalar<float>(), 3);
  cluster_.Stop(1);
  cluster_.Start(1);
  Session after(graph, {.target = target()});
  for (Session* session : {&after, &idle}) {
    session->Run(w.initializer());
    EXPECT_EQ(session->Run(w.value()).scalar<float>(), 3);
  }
  const Status status = StatusOf([&] { before.Run(w.value()); });
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_NE(status.message().find("/job:ps/task:1 was restarted"), std::string::npos)
      << status.message();
  EXPECT_EQ(before.Run(w.value()).scalar<float>(), 3);  // what others have set
}

TEST_P(ServerSessionsTest, ATaskThatIsGoneIsNamedToANewSessionToo) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope on("/job:ps/task:1");
  const Variable w("w", Tensor(3.0f));
  Session(graph, {.target = target()}).Run(w.initializer());
  cluster_.Stop(1);
  Session session(graph, {.target = target()});
  const Status status = StatusOf([&] { session.Run(w.initializer()); });
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_NE(status.message().find("/job:ps/task:1 is gone"), std::string::npos) << status.message();
  cluster_.Start(1);
  session.Run(w.initializer());
  EXPECT_EQ(session.Run(w.value()).scalar<float>(), 3);
}

// A session that has seen it go is told as the others are: what it had there is lost.
TEST_P(ServerSessionsTest, ATaskThatWasGoneIsNotTakenForTheOneBefore) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope on("/job:ps/task:1");
  const Variable w("w", Tensor(3.0f));
  const Output one = Const(Tensor::Of<int64_t>({1}));
  const Output table = MutableHashTable(DType::kInt64, DType::kFloat, {});
  const Operation insert = LookupTableInsert(table, one, Const(Tensor::Of<float>({42.0f})));
  const Output found = LookupTableFind(table, one, Const(Tensor(-1.0f)));
  for (const Output& read : {found, w.Read()}) {
    Session session(graph, {.target = target()});
    session.Run({}, std::vector<Output>(), {insert, w.initializer()});
    EXPECT_EQ(session.Run(read).data<float>()[0], read == found ? 42.0f : 3.0f);
    cluster_.Stop(1);
    for (int i = 0; i < 2; ++i) {
      const Status gone = StatusOf([&] { session.Run(read, {.deadline = seconds(30)}); });
      EXPECT_EQ(gone.code(), Code::kUnavailable) << gone.message();
    }
    cluster_.Start(1);
    const Status lost = StatusOf([&] { session.Run(read); });
    EXPECT_EQ(lost.code(), Code::kAborted) << lost.message();
    EXPECT_EQ(lost.message(),
              read == found ? "/job:ps/task:1 was restarted: what the session had there, as tables "
                              "and random streams, is gone"
                            : "/job:ps/task:1 was restarted and its variables are gone, w among "
                              "them: initialise or restore them in a new session");
    EXPECT_EQ(session.Run(found).data<float>()[0], -1.0f);  // said once
  }
}

INSTANTIATE_TEST_SUITE_P(HereAndElsewhere, ServerSessionsTest, ::testing::Bool(),
                         [](const auto& where) { return where.param ? "Elsewhere" : "Here"; });

TEST(PeerSessionsTest, ASessionThatEndedIsForgotten) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  Graph graph;
  const GraphScope use(graph);
  const auto draw = MakeFragment(graph, 0, {}, {RandomUniform({1}, {.seed = 7})});
  const auto run = [&](uint64_t session) {
    CancellationToken never;
    std::vector<Tensor> outputs(1);
    peer->Start(draw, {1, session}, {})->Wait(outputs, never);
    return outputs[0].data<float>()[0];
  };
  const float first = run(11), second = run(11);
  EXPECT_NE(first, second);
  EXPECT_EQ(run(12), first);
  peer->EndSession(11);
  Status status;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (status.ok() && std::chrono::steady_clock::now() < end)  // the message is on its way
    status = StatusOf([&] { run(11); });
  EXPECT_EQ(status.code(), Code::kAborted) << status.message();
  EXPECT_EQ(run(12), second);
}

}  // namespace
}  // namespace sextant::dist
