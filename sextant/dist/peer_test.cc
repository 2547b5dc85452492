#include "sextant/dist/peer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <set>
#include <thread>

#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/wire.h"
#include "sextant/net/grpc_frame.h"
#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

StatusReply StatusOfServer(Peer& peer) {
  grpc::ClientContext context;
  StatusReply reply;
  const auto stub = TaskService::NewStub(peer.control());
  EXPECT_TRUE(stub->Status(&context, StatusRequest(), &reply).ok());
  return reply;
}

TEST(PeerTest, TaskRunsAFragmentAndKeepsIt) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, {}, "x"), text = Placeholder(DType::kString, {}, "t");
  const auto fragment = MakeFragment(graph, 0, {x, text}, {Square(x), StringJoin({text, text}), x});
  for (const float value : {3.0f, -1.5f}) {
    CancellationToken never;
    std::vector<Tensor> outputs(3);
    peer->Start(fragment, 1, {Tensor(value), Tensor("ab")})->Wait(outputs, never);
    EXPECT_EQ(outputs[0].scalar<float>(), value * value);
    EXPECT_EQ(outputs[1].scalar<std::string>(), "abab");
    EXPECT_EQ(outputs[2].scalar<float>(), value);
  }
  const StatusReply status = StatusOfServer(*peer);
  EXPECT_EQ(status.task(), "/job:ps/replica:0/task:0");
  EXPECT_EQ(status.calls(), 2u);
  EXPECT_EQ(status.fragments(), 1u);
  EXPECT_EQ(status.duplicates(), 0u);
  EXPECT_EQ(status.running(), 0u);
}

TEST(PeerTest, ErrorsNameTheOpAndTheTask) {
  TestCluster cluster(2);
  const auto peer = cluster.NewPeer(1);
  Graph graph;
  const GraphScope use(graph);
  const Output a = Placeholder(DType::kFloat, PartialShape(), "a");
  const Output product = OpBuilder("MatMul").Input(a).Input(a).Name("b").Build();
  const auto fragment = MakeFragment(graph, 1, {a}, {product});
  const Status status = StatusOf([&] {
    Call(*peer, fragment, {Tensor::Zeros(DType::kFloat, {2, 3})});
  });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("[MatMul b] on /job:ps/task:1: ")) << status.message();
  EXPECT_EQ(peer->Status().retries(), 0u);  // it is not tried again
}

// As one whose tensors go ahead in parts does, while others call.
TEST(PeerTest, CallsMayArriveLongAfterThoseThatFollowThem) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  const CounterFragments counter(0);
  CancellationToken never;
  peer->Start(counter.init, 1, {})->Wait({}, never);
  const uint64_t late = peer->BeginCall();
  for (int i = 1; i <= 300; ++i) ASSERT_EQ(Call(*peer, counter.add).scalar<int64_t>(), i);
  CallHeader header;
  peer->FillStamp(late, 1, header.mutable_stamp());
  header.set_fingerprint(counter.add->fingerprint);
  const grpc::ByteBuffer request =
      net::ToByteBuffer(net::EncodeFrame(header.SerializeAsString(), {}));
  for (int times = 0; times < 2; ++times) {  // run once, however often it is sent
    const grpc::ByteBuffer answer = peer->Ask(kCallMethod, request, never);
    EXPECT_EQ(peer->Take(answer, late, 1, never)[0].scalar<int64_t>(), 301);
  }
  peer->EndCall(late);
}

TEST(PeerTest, HundredsOfCallsThatWaitLetOthersThrough) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  Graph graph;
  const GraphScope use(graph);
  const Output queue = FIFOQueue({DType::kInt32}, {.shared_name = "q"});
  const Output value = Placeholder(DType::kInt32, {}, "value");
  const auto take = MakeFragment(graph, 0, {}, QueueDequeue(queue)),
             put = MakeFragment(graph, 0, {value}, {}, {QueueEnqueue(queue, {value})});
  constexpr int kCalls = 600;
  CancellationToken never;
  peer->Connect(never);
  std::vector<std::unique_ptr<RemoteCall>> waiting;
  for (int i = 0; i < kCalls; ++i)
    waiting.push_back(peer->Start(take, static_cast<uint64_t>(i + 1), {}));
  for (const auto& call : waiting) EXPECT_FALSE(call->WaitFor(milliseconds(0), never));
  for (int i = 0; i < kCalls; ++i)
    peer->Start(put, static_cast<uint64_t>(kCalls + i + 1), {Tensor(i)})->Wait({}, never);
  std::set<int> taken;
  for (const auto& call : waiting) {
    Tensor element;
    call->Wait({&element, 1}, never);
    taken.insert(element.scalar<int32_t>());
  }
  EXPECT_EQ(taken.size(), static_cast<size_t>(kCalls));
}

TEST(PeerTest, MalformedFragmentIsAnError) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  auto fragment = std::make_shared<Fragment>();
  fragment->task = TaskName("ps", 0);
  fragment->graph_def = "\xff\xff";
  fragment->fingerprint = 1;
  EXPECT_EQ(StatusOf([&] { Call(*peer, fragment); }).code(), Code::kDataLoss);
}

TEST(PeerTest, FramesOfAnySizeGetThrough) {
  TestCluster cluster(1, {.shared_frames = false});
  const auto peer = cluster.NewPeer(0);
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
  const auto fragment = MakeFragment(graph, 0, {x}, {Neg(x)});
  Tensor large(DType::kFloat, {(int64_t{65} << 20) / 4});
  for (int64_t i = 0; i < large.num_elements(); i += 1000)
    large.data<float>()[i] = static_cast<float>(i);
  for (const Tensor& input : {Tensor(DType::kFloat, {0}), large}) {
    const Tensor output = Call(*peer, fragment, {input});
    ASSERT_EQ(output.shape(), input.shape());
    for (int64_t i = 0; i < input.num_elements(); i += 1000)
      ASSERT_EQ(output.data<float>()[i], -static_cast<float>(i));
  }
}

TEST(PeerTest, KeptTensorsGoFromTaskToTask) {
  TestCluster together(2), apart(2, {.shared_frames = false});
  for (const auto& [cluster, bytes] :
       {std::pair(&together, int64_t{40}), std::pair(&together, int64_t{65} << 20),
        std::pair(&apart, int64_t{65} << 20)}) {
    const auto maker_peer = cluster->NewPeer(0), user_peer = cluster->NewPeer(1);
    Graph graph;
    const GraphScope use(graph);
    const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
    const Output made = Neg(x), sum = ReduceSum(x, {0});
    const auto maker = MakeFragment(graph, 0, {x}, {});
    maker->kept = {made.name()};
    const auto user = MakeFragment(graph, 1, {}, {sum});
    user->kept_inputs = {{.tensor = x.name(), .task = maker->task, .maker = maker->fingerprint}};
    Tensor values(DType::kFloat, {bytes / 4});
    std::ranges::fill(values.flat<float>(), 0.0f);
    values.data<float>()[bytes / 4 - 1] = 3.0f;
    CancellationToken never;
    maker_peer->Start(maker, 7, {values})->Wait({}, never);
    std::vector<Tensor> outputs(1);
    user_peer->Start(user, 7, {})->Wait(outputs, never);
    EXPECT_EQ(outputs[0].scalar<float>(), -3.0f);
    // Another run knows nothing of it.
    EXPECT_EQ(StatusOf([&] { user_peer->Start(user, 8, {})->Wait(outputs, never); }).code(),
              Code::kNotFound);
    maker_peer->EndRun(7);
    while (true) {  // the task is told, not waited for
      if (StatusOf([&] { user_peer->Start(user, 7, {})->Wait(outputs, never); }).code() ==
          Code::kNotFound)
        break;
    }
  }
}

TEST(PeerTest, RestartedTaskSaysWhatIsLost) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  const CounterFragments counter(0);
  Call(*peer, counter.init);
  EXPECT_EQ(Call(*peer, counter.add).scalar<int64_t>(), 1);
  cluster.Stop(0);
  cluster.Start(0);
  const Status status = StatusOf([&] { Call(*peer, counter.add); });
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_TRUE(Contains(status.message(), "/job:ps/task:0 was restarted")) << status.message();
  EXPECT_TRUE(Contains(status.message(), "w among them")) << status.message();
  Call(*peer, counter.init);
  EXPECT_EQ(Call(*peer, counter.add).scalar<int64_t>(), 1);
}

TEST(PeerTest, TaskThatIsGoneIsNamedSoonAndUsedAgainWhenItIsBack) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  const CounterFragments counter(0);
  Call(*peer, counter.init);
  cluster.Stop(0);
  const auto start = SteadyClock::now();
  const Status status = StatusOf([&] { Call(*peer, counter.add); });
  EXPECT_LT(SteadyClock::now() - start, seconds(2));
  EXPECT_EQ(status.code(), Code::kUnavailable);
  EXPECT_TRUE(status.message().starts_with("/job:ps/task:0 is gone: nobody listens at 127.0.0.1:"))
      << status.message();
  cluster.Start(0);
  EXPECT_EQ(StatusOf([&] { Call(*peer, counter.init); }).code(), Code::kAborted);
  Call(*peer, counter.init);
  EXPECT_EQ(Call(*peer, counter.add).scalar<int64_t>(), 1);
}

TEST(PeerTest, TaskThatIsNotUpYetIsWaitedFor) {
  TestCluster cluster(1);
  cluster.Stop(0);
  const auto peer = cluster.NewPeer(0);
  const CounterFragments counter(0);
  CancellationToken never;
  const auto call = peer->Start(counter.init, 1, {});
  EXPECT_FALSE(peer->connected());
  auto ended = std::async(std::launch::async, [&] { call->Wait({}, never); });
  const std::string refused = "waited for: connection refused";
  for (int i = 0; i < 3000 && peer->Status().state() != refused; ++i)
    EXPECT_EQ(ended.wait_for(milliseconds(10)), std::future_status::timeout);
  EXPECT_EQ(peer->Status().state(), refused);
  cluster.Start(0);
  ended.get();
  EXPECT_EQ(Call(*peer, counter.read).scalar<int64_t>(), 0);
}

TEST(PeerTest, AnotherTaskAtTheAddressIsRefused) {
  TestCluster cluster(2);
  const auto peer = cluster.NewPeer(0, AddressOf(cluster.spec(), "ps", 1));
  const Status status = StatusOf([&] { Call(*peer, CounterFragments(0).init); });
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_TRUE(Contains(status.message(), "at its address is /job:ps/task:1")) << status.message();
}

TEST(PeerTest, CancelledCallsEndAtBothEnds) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  Graph graph;
  const GraphScope use(graph);
  const Output queue = FIFOQueue({DType::kFloat}, {.shared_name = "q"});
  const Output element = QueueDequeue(queue)[0];
  const auto fragment = MakeFragment(graph, 0, {}, {element});
  CancellationToken token;
  auto ended = std::async(std::launch::async,
                          [&] { return StatusOf([&] { Call(*peer, fragment, {}, &token); }); });
  while (StatusOfServer(*peer).running() == 0) std::this_thread::yield();
  token.Cancel(Status(Code::kDeadlineExceeded, "the Run's deadline"));
  EXPECT_EQ(ended.get().message(), "the Run's deadline");
  while (StatusOfServer(*peer).running() != 0) std::this_thread::yield();
  {  // destroyed without being waited for
    const auto call = peer->Start(fragment, 1, {});
    while (StatusOfServer(*peer).running() == 0) std::this_thread::yield();
  }
  while (StatusOfServer(*peer).running() != 0) std::this_thread::yield();
}

TEST(PeerTest, CallCutOffByAServerThatStopsIsSentAgain) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  peer->ThrowUnlessTransient({grpc::StatusCode::CANCELLED, "CANCELLED"});  // returns
  const Status ended =
      StatusOf([&] { peer->ThrowUnlessTransient(AnswerStatus(Status(Code::kCancelled, "why"))); });
  EXPECT_EQ(ended.code(), Code::kCancelled);
}

TEST(PeerTest, StalledNetworkEndsAtTheDeadline) {
  TestCluster cluster(1);
  FaultProxy proxy(cluster.port(0));
  const auto peer = cluster.NewPeer(0, proxy.address());
  const CounterFragments counter(0);
  Call(*peer, counter.init);
  proxy.Set({.stall = true});
  CancellationToken token;
  const auto deadline = DeadlineTimer::Schedule(SteadyClock::now() + milliseconds(300), token);
  const auto start = SteadyClock::now();
  EXPECT_EQ(StatusOf([&] { Call(*peer, counter.add, {}, &token); }).code(),
            Code::kDeadlineExceeded);
  EXPECT_LT(SteadyClock::now() - start, seconds(2));
  proxy.Set({});
  const int64_t value = Call(*peer, counter.add).scalar<int64_t>();
  EXPECT_GE(value, 1);
  EXPECT_LE(value, 2);  // the first may have arrived in the end
}

TEST(PeerTest, AnswerLostOnTheWayIsNotComputedAgain) {
  TestCluster cluster(1);
  FaultProxy proxy(cluster.port(0));
  const auto peer = cluster.NewPeer(0, proxy.address());
  const CounterFragments counter(0);
  Call(*peer, counter.init);
  for (int64_t i = 1; i <= 5; ++i) {
    proxy.CutAfter(FaultProxy::Way::kToClient, 1);
    EXPECT_EQ(Call(*peer, counter.add).scalar<int64_t>(), i);
  }
  EXPECT_EQ(proxy.cuts(), 5);
  EXPECT_GE(peer->Status().retries(), 1u);
}

}  // namespace
}  // namespace sextant::dist
