// Calls whose tensors go through shared memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "sextant/dist/peer.h"
#include "sextant/dist/shared_frames_test.h"
#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

size_t CountOpenFiles() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files)));
}

struct AddFragments {  // w += x, of a vector
  explicit AddFragments(int64_t count) {
    const GraphScope use(graph);
    const Variable w("w", Tensor::Zeros(DType::kFloat, {count}));
    const Output x = Placeholder(DType::kFloat, PartialShape({count}), "x");
    set = MakeFragment(graph, 0, {x}, {}, {AssignVariable(w.handle(), x)});
    add = MakeFragment(graph, 0, {x}, {w.AssignAdd(x)});
    read = MakeFragment(graph, 0, {}, {w.Read()});
  }
  Graph graph;
  std::shared_ptr<Fragment> set, add, read;
};

constexpr int64_t kCount = 50'000;

TEST(SharedCallsTest, ValuesAreThoseOfTheNetwork) {
  for (const bool at_server : {true, false}) {
    for (const bool at_client : {true, false}) {
      TestCluster cluster(1, {.shared_frames = at_server});
      const auto peer = std::make_shared<Peer>(PeerOptions{.task = TaskName("ps", 0),
                                                           .address = cluster.spec().at("ps")[0],
                                                           .shared_frames = at_client});
      const AddFragments fragments(kCount);
      Call(*peer, fragments.set, {Floats(kCount, 1)});
      Tensor expected = Floats(kCount, 1);
      for (int i = 0; i < 3; ++i) {
        const Tensor x = Floats(kCount, static_cast<float>(i));
        for (int64_t k = 0; k < kCount; ++k) expected.data<float>()[k] += x.data<float>()[k];
        EXPECT_TRUE(Call(*peer, fragments.add, {x}).Identical(expected));
      }
      EXPECT_TRUE(Call(*peer, fragments.read).Identical(expected));
      EXPECT_EQ(peer->Status().shared_bytes() > 0, at_server && at_client);
      EXPECT_EQ(peer->Status().sent_bytes() > 100'000, !(at_server && at_client));
      EXPECT_EQ(peer->Status().received_bytes() > 100'000, !(at_server && at_client));
    }
  }
}

TEST(SharedCallsTest, TheEnvironmentSwitchesThemOff) {
  setenv("SEXTANT_SHARED_FRAMES", "0", 1);
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  const AddFragments fragments(kCount);
  Call(*peer, fragments.set, {Floats(kCount, 1)});
  EXPECT_EQ(peer->Status().shared_bytes(), 0u);
  unsetenv("SEXTANT_SHARED_FRAMES");
}

TEST(SharedCallsTest, AValueThatIsKeptIsNotTheCallersMemory) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  const AddFragments kept(kCount);
  Call(*peer, kept.set, {Floats(kCount, 1)});
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
  const auto negate = MakeFragment(graph, 0, {x}, {Neg(x)});
  for (int i = 0; i < 5; ++i) Call(*peer, negate, {Floats(kCount, 7)});
  EXPECT_TRUE(Call(*peer, kept.read).Identical(Floats(kCount, 1)));
}

TEST(SharedCallsTest, EveryCallCountsOnceThoughConnectionsAreCut) {
  TestCluster cluster(1);
  FaultProxy proxy(cluster.port(0));
  const auto peer = cluster.NewPeer(0, proxy.address());
  const AddFragments fragments(kCount);
  const Tensor ones = [] {
    Tensor tensor(DType::kFloat, {kCount});
    std::ranges::fill(tensor.flat<float>(), 1.0f);
    return tensor;
  }();
  Call(*peer, fragments.set, {Tensor::Zeros(DType::kFloat, {kCount})});
  uint64_t random = 11;
  float returned = 0;
  while (proxy.cuts() < 100) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const auto way =
        (random >> 40) % 2 == 0 ? FaultProxy::Way::kToServer : FaultProxy::Way::kToClient;
    proxy.CutAfter(way, 60 + static_cast<int64_t>(random >> 33) % 300);
    const Tensor value = Call(*peer, fragments.add, {ones});
    returned += 1;
    ASSERT_EQ(value.data<float>()[0], returned);
    ASSERT_EQ(value.data<float>()[kCount - 1], returned);
  }
  EXPECT_GT(peer->Status().shared_bytes(), 100u * kCount * sizeof(float));
}

TEST(SharedCallsTest, ThousandCallsHoldNoMoreThanTen) {
  const int mapped = SharedSegment::num_mapped();
  {
    TestCluster cluster(1);
    const auto peer = cluster.NewPeer(0);
    const AddFragments fragments(kCount);
    const Tensor x = Floats(kCount, 1);
    Call(*peer, fragments.set, {x});
    for (int i = 0; i < 10; ++i) Call(*peer, fragments.add, {x});
    const size_t files = CountOpenFiles();
    const int segments = SharedSegment::num_mapped();
    for (int i = 0; i < 1000; ++i) Call(*peer, fragments.add, {x});
    EXPECT_LE(CountOpenFiles(), files + 4);
    EXPECT_LE(SharedSegment::num_mapped(), segments + 4);
    EXPECT_GT(peer->Status().shared_bytes(), 2000u * kCount * sizeof(float));
  }
  EXPECT_EQ(SharedSegment::num_mapped(), mapped);
}

TEST(SharedCallsTest, ARestartedServerIsMetAnew) {
  TestCluster cluster(1);
  const auto peer = cluster.NewPeer(0);
  const AddFragments fragments(kCount);
  Call(*peer, fragments.set, {Floats(kCount, 1)});
  cluster.Stop(0);
  cluster.Start(0);
  peer->ForgetIncarnation();
  const uint64_t before = peer->Status().shared_bytes();
  Call(*peer, fragments.set, {Floats(kCount, 2)});
  EXPECT_TRUE(Call(*peer, fragments.read).Identical(Floats(kCount, 2)));
  EXPECT_GT(peer->Status().shared_bytes(), before);
}

TEST(SharedFramesProcess, DISABLED_Server) {
  const Server server({.cluster = ParseClusterSpec("ps|127.0.0.1:0"), .job = "ps"});
  std::cout << "\nport " << server.port() << std::endl;
  WaitForInputToEnd();
}

TEST(SharedCallsTest, AServerThatIsKilledInACallIsGone) {
  const int mapped = SharedSegment::num_mapped();
  {
    ChildProcess server = StartOther("Server", "");
    const auto peer = std::make_shared<Peer>(PeerOptions{
        .task = TaskName("ps", 0), .address = "127.0.0.1:" + ReadAfter(server, "port ")});
    // A call that waits for ever, with inputs in shared memory.
    Graph graph;
    const GraphScope use(graph);
    const Output x = Placeholder(DType::kFloat, PartialShape({-1}), "x");
    const Output element = QueueDequeue(FIFOQueue({DType::kFloat}, {.shared_name = "q"}))[0];
    const auto wait = MakeFragment(graph, 0, {x}, {Neg(x), element});
    const auto negate = MakeFragment(graph, 0, {x}, {Neg(x)});
    EXPECT_EQ(Call(*peer, negate, {Floats(kCount, 1)}).data<float>()[0], -1);
    const auto call = peer->Start(wait, 1, {Floats(kCount, 1)});
    EXPECT_GT(peer->Status().shared_bytes(), 2u * kCount * sizeof(float));
    CancellationToken never;
    EXPECT_FALSE(call->WaitFor(std::chrono::milliseconds(10), never));
    server.Signal(SIGKILL);
    server.Wait();
    std::vector<Tensor> outputs(2);
    EXPECT_EQ(StatusOf([&] { call->Wait(outputs, never); }).code(), Code::kUnavailable);
  }
  EXPECT_EQ(SharedSegment::num_mapped(), mapped);
}

}  // namespace
}  // namespace sextant::dist
