#include "sextant/runtime/schedule_trial.h"

#include <gtest/gtest.h>

#include "sextant/runtime/plan_cache.h"

namespace sextant {
namespace {

// Runs that are faster by the schedule, until the trial has ended.
void EndTrial(ScheduleTrial& trial) {
  for (int i = 0; i < 100; ++i) {
    const ScheduleTrial::Way way = trial.Next(2);
    if (trial.times_run()) trial.RecordRun(way == ScheduleTrial::Way::kScheduled ? 10 : 20);
  }
}

std::shared_ptr<const Plan> SchedulablePlan() {
  auto plan = std::make_shared<Plan>();
  plan->suits_schedule = true;
  return plan;
}

TEST(ScheduleTrial, FramesOfAPlanShareWhatWasFound) {
  PreparedPlan plan(SchedulablePlan());
  auto first = plan.Take(HostAllocator());
  EndTrial(*first->trial);
  plan.Give(std::move(first));
  const auto again = plan.Take(HostAllocator()), second = plan.Take(HostAllocator());
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(second->trial->Next(2), ScheduleTrial::Way::kScheduled);
    ASSERT_FALSE(second->trial->times_run());
  }
}

TEST(ScheduleTrial, AFrameUsedBeforeAdoptsTheFindingToo) {
  PreparedPlan plan(SchedulablePlan());
  auto first = plan.Take(HostAllocator()), second = plan.Take(HostAllocator());
  EXPECT_EQ(second->trial->Next(2), ScheduleTrial::Way::kPlain);
  plan.Give(std::move(second));
  EndTrial(*first->trial);
  plan.Give(std::move(first));
  const auto a = plan.Take(HostAllocator()), b = plan.Take(HostAllocator());
  EXPECT_EQ(a->trial->Next(2), ScheduleTrial::Way::kScheduled);
  EXPECT_EQ(b->trial->Next(2), ScheduleTrial::Way::kScheduled);
}

// What was found for two threads says nothing of four, and is no reason to begin again for ever.
TEST(ScheduleTrial, OtherNumbersOfThreadsAreTried) {
  PreparedPlan plan(SchedulablePlan());
  auto frame = plan.Take(HostAllocator());
  EndTrial(*frame->trial);
  for (int i = 0; i < 100; ++i) {
    plan.Give(std::move(frame));
    frame = plan.Take(HostAllocator());
    const ScheduleTrial::Way way = frame->trial->Next(4);
    if (frame->trial->times_run()) {
      frame->trial->RecordRun(way == ScheduleTrial::Way::kScheduled ? 20 : 10);
    }
  }
  ASSERT_NE(frame->trial->finding(), nullptr);
  EXPECT_EQ(frame->trial->finding()->threads, 4);
  EXPECT_EQ(frame->trial->Next(4), ScheduleTrial::Way::kPlain);
}

}  // namespace
}  // namespace sextant
