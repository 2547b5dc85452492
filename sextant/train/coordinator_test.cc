#include "sextant/train/coordinator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "sextant/testing/status_of.h"

namespace sextant::train {
namespace {

TEST(CoordinatorTest, StopsThreadsTogether) {
  Coordinator coordinator;
  std::atomic<int> stopped{0};
  for (int i = 0; i < 4; ++i) {
    coordinator.Start("waiter", [&] {
      coordinator.WaitForStop();
      ++stopped;
    });
  }
  EXPECT_FALSE(coordinator.ShouldStop());
  EXPECT_FALSE(coordinator.WaitForStop(std::chrono::milliseconds(0)));
  coordinator.RequestStop();
  EXPECT_TRUE(coordinator.ShouldStop());
  coordinator.Join();
  EXPECT_EQ(stopped, 4);
}

TEST(CoordinatorTest, ThrowsTheFirstFailure) {
  Coordinator coordinator;
  coordinator.Start("waiter", [&] {
    coordinator.WaitForStop();
    throw InvalidArgument("a consequence");
  });
  coordinator.Start("failing", [] { throw DataLoss("the cause"); });
  const Status status = StatusOf([&] { coordinator.Join(); });
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_EQ(status.message(), "the cause");
}

TEST(CoordinatorTest, TheEndOfTheDataIsNoFailure) {
  Coordinator coordinator;
  coordinator.Start("reader", [] { throw OutOfRange("no more"); });
  coordinator.WaitForStop();
  coordinator.Join();
  Coordinator strict(std::vector<Code>{});
  strict.Start("reader", [] { throw OutOfRange("no more"); });
  EXPECT_EQ(StatusOf([&] { strict.Join(); }).code(), Code::kOutOfRange);
}

TEST(CoordinatorTest, OtherExceptionsAreFailures) {
  Coordinator coordinator;
  coordinator.Start("failing", [] { throw std::runtime_error("odd"); });
  EXPECT_EQ(StatusOf([&] { coordinator.Join(); }).code(), Code::kInternal);
}

TEST(CoordinatorTest, NamesThreadsThatRunOn) {
  std::promise<void> release;
  Coordinator coordinator;
  coordinator.Start("stubborn", [done = release.get_future().share()] { done.wait(); });
  coordinator.RequestStop();
  const Status status = StatusOf([&] { coordinator.Join(std::chrono::milliseconds(1)); });
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded);
  EXPECT_NE(status.message().find("stubborn"), std::string::npos);
  release.set_value();
}

TEST(CoordinatorTest, JoinReturnsWhenAllThreadsEnd) {
  Coordinator coordinator;
  coordinator.Start("quick", [] {});
  coordinator.Join();
  EXPECT_FALSE(coordinator.ShouldStop());
}

}  // namespace
}  // namespace sextant::train
