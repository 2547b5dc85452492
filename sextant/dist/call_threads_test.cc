#include "sextant/dist/call_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace sextant::dist {
namespace {

TEST(CallThreadsTest, RunsAllThatWasGivenBeforeItGoes) {
  std::atomic<int> done = 0;
  {
    CallThreads threads(200);
    for (int i = 0; i < 200; ++i) EXPECT_TRUE(threads.Run([&] { ++done; }));
  }
  EXPECT_EQ(done, 200);
}

// Put behind calls that wait for it, a call would never run.
TEST(CallThreadsTest, CallsBeyondTheLimitAreRefused) {
  std::latch release(1);
  std::atomic<int> done = 0;
  {
    CallThreads threads(3);
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(threads.Run([&] {
        release.wait();
        ++done;
      }));
    }
    EXPECT_FALSE(threads.Run([&] { done = 100; }));
    release.count_down();
    while (done < 3) std::this_thread::yield();
    while (!threads.Run([&] { ++done; })) std::this_thread::yield();
  }
  EXPECT_EQ(done, 4);
}

TEST(CallThreadsTest, CallsThatWaitForEachOtherDoNotBlock) {
  std::latch all(20);
  CallThreads threads;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(threads.Run([&] { all.arrive_and_wait(); }));
  all.wait();
}

}  // namespace
}  // namespace sextant::dist
