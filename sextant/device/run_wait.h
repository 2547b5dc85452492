// RunWait: how a kernel waits for something that another step of its own Run may bring about.
//
//   std::unique_lock lock(mutex_);
//   wait.Until(lock, changed_, [&] { return !items_.empty() || wait.cancellation().cancelled(); });
//
// One thread at a time computes the steps of such a Run. A kernel that waits releases that right,
// so that another thread goes on with the steps that do not depend on it, and acquires it again
// before it returns: the managed blocking of fork-join pools, or an interpreter lock released round
// a system call.
#pragma once

#include <condition_variable>
#include <mutex>

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
      : cancellation_(cancellation), turn_(turn) {}

  CancellationToken& cancellation() const { return cancellation_; }

  // Returns with "lock" held when over() is true; it is called with the lock held and must also be
  // true once the run is cancelled. Whoever makes it true notifies "changed".
  void Until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
             FunctionRef<bool()> over) const;

 private:
  CancellationToken& cancellation_;
  StepTurn* const turn_;
};

}  // namespace sextant
