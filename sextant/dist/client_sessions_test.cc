// How long a task keeps sessions of clients: as long as these are heard of.
#include "sextant/dist/client_sessions.h"

#include <gtest/gtest.h>

#include <future>

#include "sextant/dist/task_status.h"
#include "sextant/graph/graph_def.h"
#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/local_task.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

constexpr char kTask[] = "/job:ps/replica:0/task:0", kOther[] = "/job:ps/replica:0/task:1";

class ClientSessionsTest : public testing::Test {
 protected:
  std::shared_ptr<ClientSession> Open(const std::string& handle) {
    auto session = std::make_shared<ClientSession>(ExportGraphDef(graph_), SessionOptions(),
                                                   tasks_.environment(0));
    EXPECT_TRUE(sessions_.Add(handle, session));
    return session;
  }
  Tensor Run(ClientSession& session, const std::string& fetch) {
    return session.Run({}, {fetch}, {}, token_, nullptr)[0];
  }
  void LookOn(int times) {
    for (int i = 0; i < times; ++i) EXPECT_TRUE(sessions_.Look().empty());
  }

  LocalCluster tasks_{{kTask, kOther}};
  Graph graph_;
  const GraphScope use_{graph_};
  CancellationToken token_;
  ClientSessions sessions_;
};

TEST_F(ClientSessionsTest, LastAsLongAsTheirClientsAreHeardOf) {
  Output random;
  {
    const DeviceScope on(kOther);
    random = RandomUniform({3}, {.seed = 1});
  }
  std::weak_ptr<ClientSession> silent = Open("silent");
  Run(*silent.lock(), random.name());
  Run(*Open("heard"), random.name());
  EXPECT_EQ(tasks_.sessions(1), 2U);
  LookOn(kLooksPerLease);
  EXPECT_NE(sessions_.Find("heard"), nullptr);
  EXPECT_EQ(sessions_.Look(), std::vector<std::string>{"silent"});
  EXPECT_TRUE(silent.expired());
  EXPECT_EQ(tasks_.sessions(1), 1U);  // other tasks keep nothing for it either
  EXPECT_EQ(sessions_.Find("silent"), nullptr);
  LookOn(kLooksPerLease - 1);
  EXPECT_NE(sessions_.Find("heard"), nullptr);
}

TEST_F(ClientSessionsTest, RunsEndWithTheLease) {
  const Output element = QueueDequeue(FIFOQueue({DType::kFloat}))[0];
  std::promise<void> begun;
  auto ended = std::async(std::launch::async, [&, session = Open("a")]() mutable {
    begun.set_value();
    return StatusOf([&, own = std::move(session)] { Run(*own, element.name()); });
  });
  begun.get_future().wait();
  LookOn(kLooksPerLease);
  EXPECT_EQ(sessions_.Look(), std::vector<std::string>{"a"});
  const Status status = ended.get();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_TRUE(status.message().ends_with("the client is gone")) << status.message();
}

TEST_F(ClientSessionsTest, VariablesStayWhenTheLeaseEnds) {
  const Variable w("w", Tensor(3.0f));
  const Output value = w.Read();
  Open("a")->Run({}, {}, {std::string(w.initializer().name())}, token_, nullptr);
  LookOn(kLooksPerLease);
  EXPECT_EQ(sessions_.Look().size(), 1U);
  EXPECT_EQ(Run(*Open("b"), value.name()).scalar<float>(), 3.0f);
}

TEST_F(ClientSessionsTest, StatusTellsThem) {
  Open("a");
  Open("b");
  StatusReply reply;
  sessions_.FillStatus(&reply);
  EXPECT_EQ(reply.sessions(), 2U);
  ASSERT_EQ(reply.client_sessions_size(), 2);
  EXPECT_EQ(reply.client_sessions(1).handle(), "b");
  EXPECT_GE(reply.client_sessions(0).age_seconds(), reply.client_sessions(1).age_seconds());
  EXPECT_EQ(reply.client_sessions(0).running(), 0U);
}

// The server hears no more of one client, as when that was killed; the other does nothing but live.
TEST(ClientLeaseTest, OnlyClientsThatAreGoneLoseTheirSessions) {
  TestCluster cluster(1, {.lease = std::chrono::seconds(2)});
  const std::string address = "localhost:" + std::to_string(cluster.port(0));
  FaultProxy proxy(cluster.port(0));
  Graph graph;
  const GraphScope use(graph);
  const Output one = Const(Tensor(1.0f)), element = QueueDequeue(FIFOQueue({DType::kFloat}))[0];
  Session idle(graph, {.target = "grpc://" + address}),
      gone(graph, {.target = "grpc://" + proxy.address()});
  auto waits = std::async(std::launch::async, [&] { return StatusOf([&] { gone.Run(element); }); });
  const auto running = [&] { return AskStatus(address, {}).running(); };
  while (running() == 0) continue;
  EXPECT_EQ(AskStatus(address, {}).sessions(), 2U);
  proxy.Set({.black_hole = FaultProxy::Way::kToServer});
  while (AskStatus(address, {}).sessions() == 2) continue;
  while (running() != 0) continue;
  EXPECT_EQ(idle.Run(one).scalar<float>(), 1.0f);
  proxy.Set({});
  proxy.Reset();
  const Status status = StatusOf([&] { gone.Run(one); });
  EXPECT_EQ(status.code(), Code::kAborted) << status.message();
  EXPECT_NE(status.message().find("whose client has been silent for 2 s"), std::string::npos)
      << status.message();
  EXPECT_FALSE(waits.get().ok());
}

}  // namespace
}  // namespace sextant::dist
