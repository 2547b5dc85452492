// The threads of one iterator.
//
// All state is under one mutex: a step is entered with the lock, lets it go for its work and takes
// it again to publish what it did. Threads with nothing to do sleep on work_, the consumer sleeps
// on consumer_ while what it wants is not ready, Pause sleeps on quiet_ until no step runs.
//
// With kAutotune a thread is added when the consumer has to wait although no thread is idle, and
// fewer threads than cores work in all iterators of the process (busy_threads). A thread that waits
// for another iterator, as its consumer, does not count as busy: of a pipeline's stages only those
// that work share the cores.
//
//   Map -> Prefetch, 2 cores: Prefetch's one thread waits in Await of Map's Workers (not busy), so
//   Map may grow to two threads.
//
// What a step throws is kept in failure_, an exception_ptr, because a handler that allocated could
// throw again and end the process. Threads rest until the consumer has taken it.
#include "sextant/data/workers.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <utility>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/data/dataset.h"
#include "sextant/data/result.h"

namespace sextant::data {
namespace {

// Threads of all iterators that work now, not those that wait for another iterator.
std::atomic<int> busy_threads{0};
thread_local bool is_worker = false;

int Cores() {
  static const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return cores;
}

}  // namespace

Workers::Workers(int parallel, std::shared_ptr<CancellationToken> cancellation, Step step)
    : autotune_(parallel == kAutotune),
      max_threads_(autotune_ ? Cores() : parallel),
      cancellation_(std::move(cancellation)),
      step_(std::move(step)) {
  on_cancel_ = cancellation_->OnCancel([this] {
    std::lock_guard lock(mutex_);
    consumer_.notify_all();
  });
}

Workers::~Workers() {
  on_cancel_ = {};
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    work_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void Workers::Start(int threads) {
  try {
    while (static_cast<int>(threads_.size()) < threads) {
      threads_.emplace_back([this] { Loop(); });
    }
  } catch (const std::system_error& e) {  // those there are do the work
    if (threads_.empty()) throw ResourceExhausted("cannot start a thread: {}", e.what());
  }
}

bool Workers::WorthGrowing() const {
  return autotune_ && idle_ == 0 && static_cast<int>(threads_.size()) < max_threads_ &&
         busy_threads.load(std::memory_order_relaxed) < Cores();
}

void Workers::Await(Lock& lock, FunctionRef<bool()> ready) {
  while (!ready()) {
    cancellation_->ThrowIfCancelled();
    if (failure_) {
      work_.notify_all();
      ThrowIfFailed(std::exchange(failure_, nullptr));
    }
    if (threads_.empty()) {
      Start(autotune_ ? 1 : max_threads_);
    } else if (WorthGrowing()) {
      Start(static_cast<int>(threads_.size()) + 1);
    }
    if (is_worker) --busy_threads;
    waiting_ = true;
    consumer_.wait(lock);
    waiting_ = false;
    if (is_worker) ++busy_threads;
  }
}

void Workers::Loop() {
  is_worker = true;
  const CancellationScope scope(cancellation_.get());
  const InputLimitsScope limits(limits_);
  // Woken for every element, it would push the op team's threads off their cores in the middle of a
  // loop that others wait for; a batch thread waits for its turn. Where that is not allowed it
  // works as others do.
  const sched_param none{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
  Lock lock(mutex_);
  ++busy_threads;
  while (!stopping_) {
    bool worked = false;
    if (!paused_ && !failure_) {
      ++running_;
      try {
        worked = step_(lock);
      } catch (...) {  // crosses to the consumer's thread
        failure_ = std::current_exception();
        NotifyConsumer();
      }
      --running_;
      if (paused_ && running_ == 0) quiet_.notify_one();
    }
    if (worked || stopping_) continue;
    ++idle_;
    --busy_threads;
    work_.wait(lock);
    ++busy_threads;
    --idle_;
  }
  --busy_threads;
}

Workers::Pause::Pause(Workers& workers) : workers_(workers) {
  Lock lock(workers_.mutex_);
  workers_.paused_ = true;
  workers_.quiet_.wait(lock, [&] { return workers_.running_ == 0; });
  if (!workers_.cancellation_->cancelled()) return;
  workers_.paused_ = false;
  workers_.cancellation_->ThrowIfCancelled();
}

Workers::Pause::~Pause() {
  std::lock_guard lock(workers_.mutex_);
  workers_.paused_ = false;
  workers_.work_.notify_all();
}

}  // namespace sextant::data
