// RunWait: how a kernel waits for something that another step of its own Run may bring about.
//
//   const auto wake = wait.OnCancel([this] { changed_.notify_all(); });  // under the mutex
//   std::unique_lock lock(mutex_);
//   wait.Until(lock, changed_, [&] { return !items_.empty() || wait.cancelled(); });
//
// A wait ends with its Run, and with the CancellationScope of the thread (base/cancellable_wait.h):
// a training that is told to stop leaves the wait for its input, but no step that it computes.
//
// One thread at a time computes the steps of such a Run. A kernel that waits releases that right,
// so that another thread goes on with the steps that do not depend on it, and acquires it again
// before it returns: the managed blocking of fork-join pools, or an interpreter lock released round
// a system call.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/cancellation.h"
#include "sextant/base/function_ref.h"

namespace sextant {

// The right to compute steps of a Run. The calling thread must hold it to release it.
class StepTurn {
 public:
  virtual ~StepTurn() = default;
  virtual void Release() = 0;
  virtual void Acquire() = 0;
};

class RunWait {
 public:
  // Without a turn the thread simply waits.
  RunWait(CancellationToken& cancellation, StepTurn* turn = nullptr)  // NOLINT: a token will do
      : cancellation_(cancellation), scope_(CancellationScope::Current()), turn_(turn) {}

  bool cancelled() const {
    return cancellation_.cancelled() || (scope_ != nullptr && scope_->cancelled());
  }
  // Why; OK while it is not cancelled.
  Status status() const;

  struct [[nodiscard]] Registration {
    CancellationToken::Registration run, scope;
  };
  // Calls it when the wait is cancelled, as CancellationToken::OnCancel does; twice, perhaps.
  Registration OnCancel(const std::function<void()>& callback) const;

  // Returns with "lock" held when over() is true; it is called with the lock held and must also be
  // true once the wait is cancelled. The thread that makes it true notifies "changed".
  void Until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
             FunctionRef<bool()> over) const;

 private:
  CancellationToken& cancellation_;
  CancellationToken* const scope_;
  StepTurn* const turn_;
};

}  // namespace sextant
