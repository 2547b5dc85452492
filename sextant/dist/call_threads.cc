#include "sextant/dist/call_threads.h"

#include <chrono>
#include <system_error>
#include <thread>

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kIdleTime(10);

}  // namespace

CallThreads::~CallThreads() {
  std::unique_lock lock(mutex_);
  closing_ = true;
  given_.notify_all();
  ended_.wait(lock, [this] { return threads_ == 0; });
}

bool CallThreads::Run(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    const bool idle = static_cast<int>(waiting_.size()) < idle_;
    if (!idle) {
      if (threads_ >= most_) return false;
      try {
        std::thread([this] { Loop(); }).detach();
      } catch (const std::system_error&) {  // the system has no more
        return false;
      }
      ++threads_;
    }
    waiting_.push_back(std::move(work));
    if (!idle) return true;
  }
  given_.notify_one();  // whoever wakes finds the lock free
  return true;
}

void CallThreads::Loop() {
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
  --threads_;
  // The destructor may go on only when this thread no longer touches the object.
  std::notify_all_at_thread_exit(ended_, std::move(lock));
}

Status TooManyCalls() {
  return Status(Code::kResourceExhausted,
                "no thread is left for another call, so many run or wait at the server: let fewer "
                "wait at the same time, or use several tasks");
}

}  // namespace sextant::dist
