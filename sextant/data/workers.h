// Workers: the threads of one iterator, which repeat a step of its work while there is some.
//
// The step and the consumer share state under mutex(). Threads sleep when there is nothing to do;
// nothing spins. How many threads there are: as many as asked for, or, with kAutotune, one, and one
// more whenever the consumer waits while all of them work, up to the number of cores, unless the
// threads of all iterators of the process together already keep all cores busy.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/function_ref.h"
#include "sextant/base/input_limits.h"

namespace sextant::data {

class Workers {
 public:
  using Lock = std::unique_lock<std::mutex>;
  // Called with the lock held, which it may release meanwhile. Does one unit of work and returns
  // true, or returns false when there is none. Must not wait for the consumer. It may throw before
  // it has changed anything, e.g. std::bad_alloc; Await rethrows it.
  using Step = std::function<bool(Lock&)>;

  // `parallel` threads or kAutotune; they start with the first Await.
  Workers(int parallel, std::shared_ptr<CancellationToken> cancellation, Step step);
  // Waits for the steps that run.
  ~Workers();

  std::mutex& mutex() { return mutex_; }

  // For the consumer: returns when `ready`. Throws CANCELLED when the iteration is cancelled, and
  // once what a step threw, after which the threads try again.
  void Await(Lock& lock, FunctionRef<bool()> ready);

  // Wakes a sleeping thread: there may be work. REQUIRES: the lock is held.
  void NotifyWork() {
    if (idle_ > 0) work_.notify_one();
  }
  // Wakes the consumer, which evaluates `ready` again. REQUIRES: the lock is held.
  void NotifyConsumer() {
    if (waiting_) consumer_.notify_one();
  }

  // The most threads there can be.
  int max_threads() const { return max_threads_; }

  // While it lives no step runs: for saving. REQUIRES: made by the consumer, the lock not held.
  // Throws CANCELLED when the iteration is cancelled: steps may have left their work undone.
  class Pause {
   public:
    explicit Pause(Workers& workers);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Workers& workers_;
  };

 private:
  void Loop();
  // Throws RESOURCE_EXHAUSTED when there is none and none can be started.
  void Start(int threads);
  // Whether another thread would help. REQUIRES: the lock is held.
  bool WorthGrowing() const;

  const bool autotune_;
  const int max_threads_;
  const std::shared_ptr<CancellationToken> cancellation_;
  const InputLimits limits_ = InputLimits::Current();
  const Step step_;
  std::mutex mutex_;
  std::condition_variable work_, consumer_, quiet_;
  int idle_ = 0;     // threads that sleep
  int running_ = 0;  // threads inside a step
  bool waiting_ = false;
  bool paused_ = false;
  bool stopping_ = false;
  std::exception_ptr failure_;  // of a step; no step runs until the consumer has taken it
  std::vector<std::thread> threads_;
  CancellationToken::Registration on_cancel_;
};

}  // namespace sextant::data
