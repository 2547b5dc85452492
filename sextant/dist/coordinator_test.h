// For tests of the coordinator: a cluster that has begun to train.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "sextant/base/error.h"
#include "sextant/dist/coordinator.h"

namespace sextant::dist {

constexpr uint64_t kCut = 7;  // of a snapshot

inline const TaskId kChiefTask{"chief", 0}, kWorkerTask{"worker", 0}, kPs0Task{"ps", 0},
    kPs1Task{"ps", 1};

inline const UpdatePart kPart0{.part = 0, .num_parts = 2}, kPart1{.part = 1, .num_parts = 2};

template <typename Function>
Code CodeOf(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kOk;
}

class CoordinatorTest : public testing::Test {
 protected:
  // A cluster of chief 1, worker 2 and servers 10 and 11, by incarnations, in epoch 1 at step 0.
  void Start(const std::optional<TokenOptions>& synchronous = {},
             std::optional<int64_t> max_steps = {}) {
    coordinator_.emplace(CoordinatorOptions{
        .trainers = {kChiefTask, kWorkerTask}, .num_ps = 2, .max_steps = max_steps});
    coordinator_->Join(kPs0Task, 10, {}, now_);
    coordinator_->Join(kPs1Task, 11, {}, now_);
    coordinator_->Join(kChiefTask, 1, 0, now_);
    const uint64_t epoch = coordinator_->BeginEpoch(1, 0, now_);
    coordinator_->CommitEpoch(1, epoch, 0, now_, synchronous);
    EXPECT_EQ(coordinator_->Join(kWorkerTask, 2, 1, now_).state, MemberState::kReady);
  }
  void BeatAll() {
    coordinator_->Heartbeat(kPs0Task, 10, 0, now_);
    coordinator_->Heartbeat(kPs1Task, 11, 0, now_);
    coordinator_->Heartbeat(kChiefTask, 1, 0, now_);
  }
  bool MayRun(const UpdatePart& part, int64_t step) {
    return coordinator_->PartMayRun(part, 1, step);
  }
  // Both parts of the update get R contributions and run.
  void CommitStep(int64_t step) {
    for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartReady(part, 1, step);
    for (const UpdatePart& part : {kPart0, kPart1}) {
      EXPECT_TRUE(MayRun(part, step));
      coordinator_->PartRan(part, 1, step, now_);
    }
  }

  SteadyTime now_ = SteadyTime() + std::chrono::seconds(1000);
  std::optional<Coordinator> coordinator_;
};

}  // namespace sextant::dist
