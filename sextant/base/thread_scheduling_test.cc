#include "sextant/base/thread_scheduling.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

namespace sextant {
namespace {

int NiceOfThisThread() {
  return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
}

TEST(ThreadSchedulingTest, RunningSoonKeepsThePriority) {
  std::thread([] {
    const int before = NiceOfThisThread();
    RunSoonAfterWaking();
    EXPECT_EQ(NiceOfThisThread(), before);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
  }).join();
}

TEST(ThreadSchedulingTest, OneThreadYieldsTheOthersDoNot) {
  const int before = NiceOfThisThread();
  std::thread([&] {
    YieldToOthers();
    EXPECT_EQ(NiceOfThisThread(), std::min(before + 10, 19));
  }).join();
  EXPECT_EQ(NiceOfThisThread(), before);
}

}  // namespace
}  // namespace sextant
