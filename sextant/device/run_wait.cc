#include "sextant/device/run_wait.h"

namespace sextant {

Status RunWait::status() const {
  return cancellation_.cancelled() || scope_ == nullptr ? cancellation_.status() : scope_->status();
}

RunWait::Registration RunWait::OnCancel(const std::function<void()>& callback) const {
  Registration registration{.run = cancellation_.OnCancel(callback), .scope = {}};
  if (scope_ != nullptr) registration.scope = scope_->OnCancel(callback);
  return registration;
}

void RunWait::Until(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                    FunctionRef<bool()> over) const {
  while (!over()) {
    if (turn_ == nullptr) {
      changed.wait(lock);
      continue;
    }
    // The turn is never waited for with the lock held: its holder may need the lock.
    lock.unlock();
    try {
      turn_->Release();
    } catch (...) {
      lock.lock();
      throw;
    }
    lock.lock();
    while (!over()) changed.wait(lock);
    lock.unlock();
    turn_->Acquire();
    lock.lock();
  }
}

}  // namespace sextant
