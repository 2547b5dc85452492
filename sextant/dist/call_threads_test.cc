#include "sextant/dist/call_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace sextant::dist {
namespace {

TEST(CallThreadsTest, RunsAllThatWasGivenBeforeItGoes) {
  std::atomic<int> done = 0;
  {
    CallThreads threads(3);
    for (int i = 0; i < 200; ++i) threads.Run([&] { ++done; });
  }
  EXPECT_EQ(done, 200);
}

TEST(CallThreadsTest, CallsThatWaitForEachOtherDoNotBlock) {
  std::latch all(20);
  CallThreads threads;
  for (int i = 0; i < 20; ++i) threads.Run([&] { all.arrive_and_wait(); });
  all.wait();
}

}  // namespace
}  // namespace sextant::dist
