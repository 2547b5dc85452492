// CallThreads: threads for calls that may wait. gRPC's own must not be held up, and calls wait for
// queues, for each other's tensors and for locks, so there is no fixed number of them: a call finds
// an idle thread or gets a new one; a thread that was idle for a while ends.
//
// A call is never put behind others: those may wait for it. Where there are too many it is refused.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <thread>

#include "sextant/base/error.h"

namespace sextant::dist {

class CallThreads {
 public:
  // So many run at the same time at most. A thread that waits costs some ten kilobytes.
  explicit CallThreads(int most = 4096) : most_(most) {}
  // Waits until all that was taken has been run.
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // False: there is no thread for it, and it will not be run. "work" must not throw.
  [[nodiscard]] bool Run(std::function<void()> work);

 private:
  using Threads = std::list<std::jthread>;
  void Loop(Threads::iterator self);

  const int most_;
  std::mutex mutex_;
  std::condition_variable given_, ended_;
  std::deque<std::function<void()>> waiting_;  // no more than threads are idle
  Threads threads_;
  Threads left_;  // that have nothing more to do, to be joined
  int idle_ = 0;
  bool closing_ = false;
};

// RESOURCE_EXHAUSTED: what a task answers to a call that it has no thread for.
Status TooManyCalls();

}  // namespace sextant::dist
