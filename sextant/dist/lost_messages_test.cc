// A Cancel or an end of a Run that is lost, or comes late, is made up for by later messages.
#include <gtest/gtest.h>

#include <chrono>

#include "sextant/dist/task_status.h"
#include "sextant/testing/fault_proxy.h"
#include "sextant/testing/status_of.h"
#include "sextant/testing/test_cluster.h"

namespace sextant::dist {
namespace {

constexpr uint64_t kSession = 9;
using SteadyClock = std::chrono::steady_clock;

// A queue of the first task, through a network that loses messages.
class LostMessagesTest : public testing::Test {
 protected:
  LostMessagesTest() {
    const Output value = Placeholder(DType::kInt32, {}, "value");
    take_ = MakeFragment(graph_, 0, {}, QueueDequeue(queue_));
    put_ = MakeFragment(graph_, 0, {value}, {}, {QueueEnqueue(queue_, {value})});
    size_ = MakeFragment(graph_, 0, {}, {QueueSize(queue_)});
    peer_->Connect(never_);
  }

  // Whether it holds before ten seconds have passed; "meanwhile" is called again and again.
  template <typename Condition, typename Meanwhile>
  static bool Comes(Condition&& holds, Meanwhile&& meanwhile) {
    const auto end = SteadyClock::now() + std::chrono::seconds(10);
    while (!holds()) {
      if (SteadyClock::now() > end) return false;
      meanwhile();
    }
    return true;
  }
  void Put(int32_t value) { near_->Start(put_, 1, {Tensor(value)})->Wait({}, never_); }
  uint32_t running() { return AskStatus(near_->address(), {}).running(); }

  TestCluster cluster_{2};
  FaultProxy proxy_{cluster_.port(0)};
  const std::shared_ptr<Peer> peer_ = cluster_.NewPeer(0, proxy_.address());
  const std::shared_ptr<Peer> near_ = cluster_.NewPeer(0);
  Graph graph_;
  const GraphScope use_{graph_};
  const Output queue_ = FIFOQueue({DType::kInt32}, {.shared_name = "q"});
  std::shared_ptr<Fragment> take_, put_, size_;
  CancellationToken never_;
};

// Calls that are given up while others are made: what cancels them may come after those.
TEST_F(LostMessagesTest, CallsThatWereGivenUpEnd) {
  peer_->Register(*take_, never_);
  for (uint64_t i = 0; i < 200; ++i) {
    peer_->Start(take_, i + 2, {});
    EXPECT_EQ(Call(*peer_, size_).scalar<int32_t>(), 0);
  }
  EXPECT_TRUE(Comes([&] { return running() == 0u; }, [&] { Call(*peer_, size_); }));
  Put(1);
  EXPECT_EQ(Call(*peer_, size_).scalar<int32_t>(), 1);  // nobody else has taken it
}

TEST_F(LostMessagesTest, ACallWhoseCancelIsLostEnds) {
  peer_->Connect(never_, kSession);
  peer_->Register(*take_, never_, kSession);
  auto call = peer_->Start(take_, {2, kSession}, {});
  ASSERT_TRUE(Comes([&] { return running() == 1u; }, [] {}));
  proxy_.Set({.black_hole = FaultProxy::Way::kToServer});
  call.reset();
  proxy_.Set({});
  proxy_.Reset();
  EXPECT_TRUE(Comes([&] { return running() == 0u; }, [&] { peer_->StayAlive(); }));
  Put(1);
  EXPECT_EQ(Call(*near_, size_).scalar<int32_t>(), 1);
}

TEST_F(LostMessagesTest, ARunWhoseEndIsLostIsForgotten) {
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output made = Neg(x);
  const auto maker = MakeFragment(graph_, 0, {x}, {});
  maker->kept = {made.name()};
  peer_->Start(maker, {7, kSession}, {Tensor(3.0f)})->Wait({}, never_);
  const auto find = [&] {
    KeptHeader wanted;
    wanted.set_run(7);
    KeptTensors* const of = wanted.add_tensors();
    of->set_maker(maker->fingerprint);
    of->add_positions(0);
    return StatusOf([&] { near_->FetchKept(wanted, never_); });
  };
  EXPECT_TRUE(find().ok());
  proxy_.Set({.black_hole = FaultProxy::Way::kToServer});
  peer_->EndRun(7);
  EXPECT_TRUE(find().ok());
  proxy_.Set({});
  proxy_.Reset();
  EXPECT_TRUE(Comes([&] { return find().code() == Code::kNotFound; }, [&] { peer_->StayAlive(); }));
}

}  // namespace
}  // namespace sextant::dist
