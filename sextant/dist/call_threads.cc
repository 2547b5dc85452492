#include "sextant/dist/call_threads.h"

#include <chrono>
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

void CallThreads::Run(std::function<void()> work) {
  {
    std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(work));
    if (static_cast<int>(waiting_.size()) > idle_ && threads_ < most_) {
      ++threads_;
      std::thread([this] { Loop(); }).detach();
      return;
    }
  }
  given_.notify_one();  // whoever wakes finds the lock free
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

}  // namespace sextant::dist
