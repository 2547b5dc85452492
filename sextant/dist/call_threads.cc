#include "sextant/dist/call_threads.h"

#include <chrono>
#include <system_error>

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kIdleTime(10);

}  // namespace

CallThreads::~CallThreads() {
  Threads left;  // joined outside the lock
  std::unique_lock lock(mutex_);
  closing_ = true;
  given_.notify_all();
  ended_.wait(lock, [this] { return threads_.empty(); });
  left.swap(left_);
  lock.unlock();
}

bool CallThreads::Run(std::function<void()> work) {
  Threads left;  // joined outside the lock
  {
    std::lock_guard lock(mutex_);
    left.swap(left_);
    const bool idle = static_cast<int>(waiting_.size()) < idle_;
    if (!idle) {
      if (static_cast<int>(threads_.size()) >= most_) return false;
      const auto self = threads_.emplace(threads_.end());
      try {
        *self = std::jthread([this, self] { Loop(self); });
      } catch (const std::system_error&) {  // the system has no more
        threads_.erase(self);
        return false;
      }
    }
    waiting_.push_back(std::move(work));
    if (!idle) return true;
  }
  given_.notify_one();  // whoever wakes finds the lock free
  return true;
}

void CallThreads::Loop(Threads::iterator self) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const bool some =
        given_.wait_for(lock, kIdleTime, [this] { return closing_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty() && (closing_ || !some)) break;
    if (waiting_.empty()) continue;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
  }
  left_.splice(left_.end(), threads_, self);
  ended_.notify_all();
}

Status TooManyCalls() {
  return Status(Code::kResourceExhausted,
                "the server has no thread left for another call, too many run or wait there: let "
                "fewer wait at the same time, or use several tasks");
}

}  // namespace sextant::dist
