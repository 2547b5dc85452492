// CallThreads: threads for calls that may wait. gRPC's own must not be held up, and calls wait for
// queues, for each other's tensors and for locks, so there is no fixed number of them: a call finds
// an idle thread or gets a new one; a thread that was idle for a while ends.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace sextant::dist {

class CallThreads {
 public:
  // More calls than that wait for a thread.
  explicit CallThreads(int most = 512) : most_(most) {}
  // Waits until all that was given has been run.
  ~CallThreads();
  CallThreads(const CallThreads&) = delete;
  CallThreads& operator=(const CallThreads&) = delete;

  // "work" must not throw.
  void Run(std::function<void()> work);

 private:
  void Loop();

  const int most_;
  std::mutex mutex_;
  std::condition_variable given_, ended_;
  std::deque<std::function<void()>> waiting_;
  int threads_ = 0, idle_ = 0;
  bool closing_ = false;
};

}  // namespace sextant::dist
