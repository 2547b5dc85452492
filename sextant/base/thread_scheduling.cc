#include "sextant/base/thread_scheduling.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace sextant {
namespace {

constexpr uint64_t kShortSlice = 100'000;  // ns, the least that Linux takes

// As the system call has it; glibc 2.36 does not declare it.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0, deadline = 0, period = 0;
};

}  // namespace

// The scheduler (EEVDF) runs the thread whose deadline, one slice after it became eligible, comes
// first, and lets one with a shorter slice interrupt one with a longer slice.
void RunSoonAfterWaking() {
  SchedulingAttributes attributes;
  if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  if (attributes.policy != SCHED_OTHER) return;  // somebody knew better
  attributes.runtime = kShortSlice;
  static_cast<void>(::syscall(SYS_sched_setattr, 0, &attributes, 0));
}

void YieldToOthers() {
  const auto thread = static_cast<id_t>(::syscall(SYS_gettid));
  ::setpriority(PRIO_PROCESS, thread, ::getpriority(PRIO_PROCESS, thread) + 10);
}

}  // namespace sextant
