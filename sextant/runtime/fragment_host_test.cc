#include "sextant/runtime/fragment_host.h"

#include <gtest/gtest.h>

#include <thread>

#include "sextant/device/device.h"
#include "sextant/device/resource_manager.h"
#include "sextant/graph/graph_def.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class FragmentHostTest : public testing::Test {
 protected:
  FragmentHostTest() {
    SessionEnvironment environment{.task = "/job:ps/replica:0/task:0", .resources = &resources_};
    for (const auto& device : devices_) environment.devices.push_back(device.get());
    host_.emplace(environment, SessionOptions{});
  }

  std::shared_ptr<Fragment> Make(const Graph& graph, const Output& fetch) {
    auto fragment = std::make_shared<Fragment>();
    fragment->task = "/job:ps/replica:0/task:0";
    fragment->graph_def = ExportGraphDef(graph).SerializeAsString();
    fragment->fetches = {fetch.name()};
    fragment->fingerprint = ++last_fingerprint_;
    host_->Register(fragment);
    return fragment;
  }
  // w += 1, of a variable that was 0.
  std::shared_ptr<Fragment> MakeCounter() {
    Graph graph;
    const GraphScope use(graph);
    const Variable w("w", Tensor(int64_t{0}));
    const auto init = Make(graph, w.AssignAdd(Const(Tensor(int64_t{1}))));
    auto set = std::make_shared<Fragment>(*init);
    set->fetches.clear();
    set->targets = {std::string(w.initializer().name())};
    set->fingerprint = ++last_fingerprint_;
    host_->Register(set);
    host_->Run(set->fingerprint, 1, {}, {}, never_);
    return init;
  }
  int64_t Count(const Fragment& fragment) {
    return host_->Run(fragment.fingerprint, 1, {}, {}, never_)[0].scalar<int64_t>();
  }

  std::vector<std::unique_ptr<Device>> devices_ = MakeHostDevices(1, "/job:ps/replica:0/task:0");
  ResourceManager resources_;
  std::optional<FragmentHost> host_;
  CancellationToken never_;
  uint64_t last_fingerprint_ = 0;
};

TEST_F(FragmentHostTest, UnusedFragmentsGoAndComeBack) {
  const auto counter = MakeCounter();
  EXPECT_EQ(Count(*counter), 1);
  EXPECT_EQ(host_->num_fragments(), 2u);
  EXPECT_EQ(host_->num_plans(), 2);
  const auto before = FragmentHost::Clock::now();
  EXPECT_TRUE(host_->Has(counter->fingerprint));  // as a call does that is about to run
  host_->DropUnused(before);
  EXPECT_EQ(host_->num_fragments(), 1u);
  EXPECT_EQ(Count(*counter), 2);
  host_->DropUnused(FragmentHost::Clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(host_->num_fragments(), 0u);
  EXPECT_EQ(host_->num_plans(), 0);
  EXPECT_FALSE(host_->Has(counter->fingerprint));
  EXPECT_EQ(StatusOf([&] { Count(*counter); }).code(), Code::kNotFound);
  host_->Register(counter);
  EXPECT_EQ(Count(*counter), 3);  // the variable is the task's
}

TEST_F(FragmentHostTest, FragmentsThatRunOrWaitForContributionsStay) {
  Graph graph;
  const GraphScope use(graph);
  const Output queue = FIFOQueue({DType::kInt64}, {.shared_name = "q"});
  const Output seen = FIFOQueue({DType::kInt64}, {.shared_name = "seen"});
  const Operation says = QueueEnqueue(seen, {Const(Tensor(int64_t{5}))});
  const auto run = Make(graph, QueueDequeue(queue)[0]);
  auto waits = std::make_shared<Fragment>(*run);
  waits->targets = {std::string(says.name())};
  waits->fingerprint = ++last_fingerprint_;
  host_->Register(waits);
  auto summed = std::make_shared<Fragment>(*run);
  summed->sum = Fragment::Sum{};
  summed->fingerprint = ++last_fingerprint_;
  host_->Register(summed);
  const auto started = Make(graph, QueueDequeue(seen)[0]);
  const auto put = Make(graph, [&] {
    const ControlDependencies after({QueueEnqueue(queue, {Const(Tensor(int64_t{7}))})});
    return Identity(Const(Tensor(int64_t{1})));
  }());
  std::thread runs([&] { EXPECT_EQ(Count(*waits), 7); });
  EXPECT_EQ(Count(*started), 5);  // the other one has begun
  host_->DropUnused(FragmentHost::Clock::now() + std::chrono::seconds(1));
  EXPECT_EQ(host_->num_fragments(), 2u);
  EXPECT_TRUE(host_->Has(waits->fingerprint));
  EXPECT_TRUE(host_->Has(summed->fingerprint));
  host_->Register(put);
  EXPECT_EQ(Count(*put), 1);
  runs.join();
}

// Whoever asks does not say where the run was.
TEST_F(FragmentHostTest, WhatRunsOnASnapshotKeepIsFoundInTheHost) {
  const auto counter = MakeCounter();
  EXPECT_EQ(Count(*counter), 1);
  const std::shared_ptr<FragmentHost> snapshot = host_->Snapshot();
  EXPECT_EQ(Count(*counter), 2);
  const auto keeps = std::make_shared<Fragment>(*counter);
  std::swap(keeps->kept, keeps->fetches);
  keeps->fingerprint = ++last_fingerprint_;
  snapshot->Register(keeps);
  snapshot->Run(keeps->fingerprint, 8, {}, {}, never_);
  const int32_t first = 0;
  const auto kept = [&] { return host_->Kept(8, keeps->fingerprint, {&first, 1})[0]; };
  EXPECT_EQ(kept().scalar<int64_t>(), 2);  // the snapshot had 1
  EXPECT_EQ(host_->num_kept_runs(), 1u);
  host_->EndRun(8);
  EXPECT_EQ(snapshot->num_kept_runs(), 0u);
  EXPECT_EQ(StatusOf(kept).code(), Code::kNotFound);
}

}  // namespace
}  // namespace sextant
