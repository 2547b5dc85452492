#include "sextant/base/cancellation.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <optional>

namespace sextant {
namespace {

using std::chrono::steady_clock;

TEST(CancellationTokenTest, KeepsTheFirstReason) {
  CancellationToken token;
  EXPECT_FALSE(token.cancelled());
  EXPECT_TRUE(token.status().ok());
  token.ThrowIfCancelled();
  token.Cancel(Status(Code::kAborted, "first"));
  token.Cancel(Status(Code::kInternal, "second"));
  EXPECT_TRUE(token.cancelled());
  EXPECT_EQ(token.status().ToString(), "ABORTED: first");
  EXPECT_THROW(token.ThrowIfCancelled(), Error);
}

TEST(CancellationTokenTest, OkStatusCountsAsCancelled) {
  CancellationToken token;
  token.Cancel(Status());
  EXPECT_EQ(token.status().code(), Code::kCancelled);
}

TEST(CancellationTokenTest, RunsRegisteredCallbacksOnly) {
  CancellationToken token;
  int kept = 0, dropped = 0, late = 0;
  auto keep = token.OnCancel([&] { ++kept; });
  {
    auto drop = token.OnCancel([&] { ++dropped; });
  }
  token.Cancel();
  auto after = token.OnCancel([&] { ++late; });
  EXPECT_EQ(kept, 1);
  EXPECT_EQ(dropped, 0);
  EXPECT_EQ(late, 1);
}

TEST(CancellationTokenTest, CallbackMayDeregisterItselfAndOthers) {
  CancellationToken token;
  std::optional<CancellationToken::Registration> first, second;
  int calls = 0;
  const auto callback = [&] {
    ++calls;
    first.reset();
    second.reset();
  };
  first = token.OnCancel(callback);
  second = token.OnCancel(callback);
  token.Cancel();
  EXPECT_EQ(calls, 1);
}

TEST(CancellationTokenTest, DeregistrationWaitsForARunningCallback) {
  for (int round = 0; round < 100; ++round) {
    CancellationToken token;
    std::latch started(1);
    int steps = 0;
    std::thread canceller;
    {
      auto registration = token.OnCancel([&] {
        started.count_down();
        std::this_thread::yield();
        steps = 2;
      });
      canceller = std::thread([&] { token.Cancel(); });
      started.wait();
    }
    EXPECT_EQ(steps, 2);
    canceller.join();
  }
}

TEST(DeadlineTimerTest, CancelsAtTheDeadline) {
  CancellationToken token;
  std::latch cancelled(1);
  auto registration = token.OnCancel([&] { cancelled.count_down(); });
  const auto deadline = steady_clock::now() + std::chrono::milliseconds(5);
  auto handle = DeadlineTimer::Schedule(deadline, token);
  cancelled.wait();
  EXPECT_GE(steady_clock::now(), deadline);
  EXPECT_EQ(token.status().code(), Code::kDeadlineExceeded);
  // The time left when it was armed: 5 ms, less what this thread took to get there.
  EXPECT_TRUE(token.status().message().starts_with("deadline of 0.00"))
      << token.status().ToString();
}

TEST(DeadlineTimerTest, DisarmedDeadlineDoesNothing) {
  CancellationToken disarmed, fired;
  std::latch done(1);
  auto registration = fired.OnCancel([&] { done.count_down(); });
  const auto soon = steady_clock::now() + std::chrono::milliseconds(2);
  { auto handle = DeadlineTimer::Schedule(soon, disarmed); }
  auto later = DeadlineTimer::Schedule(soon + std::chrono::milliseconds(2), fired);
  done.wait();
  EXPECT_FALSE(disarmed.cancelled());
}

TEST(DeadlineTimerTest, EarlierDeadlineOvertakesALaterOne) {
  CancellationToken late, early;
  auto far = DeadlineTimer::Schedule(steady_clock::now() + std::chrono::hours(1), late);
  std::latch done(1);
  auto registration = early.OnCancel([&] { done.count_down(); });
  auto near = DeadlineTimer::Schedule(steady_clock::now(), early);
  auto never = DeadlineTimer::Schedule(DeadlineTimer::TimePoint::max(), late);
  done.wait();
  EXPECT_FALSE(late.cancelled());
}

TEST(DeadlineTimerTest, CallbackMayDestroyTheHandle) {
  CancellationToken token;
  std::latch done(1), armed(1);
  std::unique_ptr<DeadlineTimer::Handle> handle;
  auto registration = token.OnCancel([&] {
    armed.wait();
    handle.reset();
    done.count_down();
  });
  handle.reset(new auto(DeadlineTimer::Schedule(steady_clock::now(), token)));
  armed.count_down();
  done.wait();
  EXPECT_TRUE(token.cancelled());
}

TEST(DeadlineTimerTest, ArmsAndDisarmsFromManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        CancellationToken token;
        auto handle =
            DeadlineTimer::Schedule(steady_clock::now() + std::chrono::microseconds(i % 50), token);
        if (i % 2 == 0) {
          while (!token.cancelled()) std::this_thread::yield();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sextant
