// How long a task keeps the answers of calls that may be sent again: not beyond their session.
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "sextant/base/resident_memory.h"
#include "sextant/dist/task_status.h"
#include "sextant/dist/wire.h"
#include "sextant/graph/graph_def.h"
#include "sextant/net/channel.h"
#include "sextant/net/grpc_frame.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/testing/sanitizers.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

constexpr int64_t kMegabyte = int64_t{1} << 20;

// In one message, and in parts.
constexpr int64_t kWhole = 40 * kMegabyte, kInParts = 100 * kMegabyte;
static_assert(kInParts > static_cast<int64_t>(net::kMaxFrameBytes));

// Bytes by which this process, which is the server too, has grown after sessions that have each
// fetched so many bytes and ended.
int64_t Growth(const std::string& target, int64_t bytes) {
  Graph graph;
  const GraphScope use(graph);
  const Output count = Placeholder(DType::kInt32, {1}, "count");
  const Output filled = Fill(count, Const(Tensor(1.0f)));
  const auto fetch = [&] {
    Session session(graph, {.target = target});
    const auto elements = static_cast<int32_t>(bytes / 4);
    const Tensor got = session.Run({{count, Tensor::Of<int32_t>({elements})}}, filled);
    EXPECT_EQ(got.num_elements(), elements);
  };
  for (int i = 0; i < 2; ++i) fetch();  // what is allocated once
  const int64_t before = ResidentBytes();
  for (int i = 0; i < 5; ++i) fetch();
  return ResidentBytes() - before;
}

TEST(KeptAnswersTest, ThoseOfAClientEndWithItsSession) {
  if (kSanitizerKeepsMemory) GTEST_SKIP() << "measures memory";
  TestCluster cluster(1);
  const std::string target = "grpc://localhost:" + std::to_string(cluster.port(0));
  for (const int64_t bytes : {kWhole, kInParts}) EXPECT_LT(Growth(target, bytes), 2 * bytes);
}

TEST(KeptAnswersTest, ThoseOfATaskEndWithItsSession) {
  TestCluster cluster(1, {.shared_frames = false});
  const auto peer = cluster.NewPeer(0);
  Graph graph;
  const GraphScope use(graph);
  const Output count = Placeholder(DType::kInt32, {1}, "count");
  const auto fill = MakeFragment(graph, 0, {count}, {Fill(count, Const(Tensor(1.0f)))});
  constexpr uint64_t kSession = 11, kSequence = 1;
  CancellationToken never;
  std::vector<Tensor> outputs(1);
  peer->Start(fill, {1, kSession}, {Tensor::Of<int32_t>({kInParts / 4})})->Wait(outputs, never);
  EXPECT_EQ(outputs[0].num_elements(), kInParts / 4);
  const auto fetch = [&] {
    PartHeader header;
    peer->FillStamp(kSequence, {1, kSession}, header.mutable_stamp());
    const net::EncodedFrame frame = net::EncodeFrame(header.SerializeAsString(), {});
    return StatusOf([&] { peer->Ask(kFetchPartMethod, net::ToByteBuffer(frame), never); });
  };
  EXPECT_TRUE(fetch().ok());
  peer->EndSession(kSession);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  Status status;
  while (status.ok() && std::chrono::steady_clock::now() < end) status = fetch();
  EXPECT_EQ(status.code(), Code::kNotFound) << status.message();  // the task was told
}

// As a client speaks whose answer was lost.
TEST(KeptAnswersTest, ARunThatTheEndOfItsSessionCancelsIsStillAnswered) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  const auto stub = SessionService::NewStub(peer->control());
  Graph graph;
  const GraphScope use(graph);
  const Output element = QueueDequeue(FIFOQueue({DType::kFloat}))[0];
  CreateSessionRequest create;
  create.set_handle("a");
  create.set_graph_def(ExportGraphDef(graph).SerializeAsString());
  CreateSessionReply created;
  grpc::ClientContext creating;
  ASSERT_TRUE(stub->CreateSession(&creating, create, &created).ok());

  const uint64_t sequence = peer->BeginCall();
  RunHeader header;
  header.set_handle("a");
  header.add_fetches(element.name());
  peer->FillStamp(sequence, 0, header.mutable_stamp());
  const auto run = [&] {
    CancellationToken never;
    const net::EncodedFrame frame = net::EncodeFrame(header.SerializeAsString(), {});
    return StatusOf([&] { peer->Ask(kRunMethod, net::ToByteBuffer(frame), never); });
  };
  const auto close = [&] {
    CloseSessionRequest request;
    request.set_handle("a");
    peer->FillStamp(0, 0, request.mutable_stamp());
    Nothing reply;
    grpc::ClientContext context;
    EXPECT_TRUE(stub->CloseSession(&context, request, &reply).ok());
  };
  auto ended = std::async(std::launch::async, run);
  while (AskStatus(peer->address(), {}).client_sessions(0).running() == 0) continue;
  close();
  const Status status = ended.get();
  EXPECT_EQ(status.code(), Code::kCancelled) << status.message();
  EXPECT_TRUE(status.message().ends_with("the client has closed the session")) << status.message();
  close();  // sent again
  EXPECT_EQ(run().message(), status.message());
  peer->EndCall(sequence);
  close();
  EXPECT_EQ(run().code(), Code::kAborted);  // the client has said that it has the answer
}

}  // namespace
}  // namespace sextant::dist
