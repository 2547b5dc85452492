#include "sextant/base/cancellation.h"

#include <algorithm>

namespace sextant {

void CancellationToken::Cancel(Status status) {
  if (status.ok()) status = Status(Code::kCancelled, "cancelled");
  std::unique_lock lock(mutex_);
  if (cancelled()) return;
  status_ = std::move(status);
  cancelled_.store(true, std::memory_order_release);
  running_thread_ = std::this_thread::get_id();
  while (!callbacks_.empty()) {
    auto [id, callback] = std::move(callbacks_.back());
    callbacks_.pop_back();
    running_id_ = id;
    lock.unlock();
    callback();
    callback = nullptr;
    lock.lock();
    running_id_ = 0;
    // Under the lock: the waiter may destroy the token as soon as it has seen running_id_.
    callback_done_.notify_all();
  }
}

Status CancellationToken::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

CancellationToken::Registration CancellationToken::OnCancel(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!cancelled()) {
      callbacks_.emplace_back(next_id_, std::move(callback));
      return Registration(this, next_id_++);
    }
  }
  callback();
  return Registration();
}

void CancellationToken::Deregister(int64_t id) {
  std::unique_lock lock(mutex_);
  std::erase_if(callbacks_, [id](const auto& entry) { return entry.first == id; });
  if (running_thread_ == std::this_thread::get_id()) return;
  callback_done_.wait(lock, [&] { return running_id_ != id; });
}

DeadlineTimer::Handle::Handle(TimePoint deadline, CancellationToken& token)
    : armed_at_(std::chrono::steady_clock::now()), deadline_(deadline), token_(token) {
  if (deadline != TimePoint::max()) Process().Arm(this);
}

DeadlineTimer::Handle::~Handle() {
  if (deadline_ != TimePoint::max()) Process().Disarm(this);
}

DeadlineTimer& DeadlineTimer::Process() {
  // Never destroyed: its thread runs until the process ends.
  static DeadlineTimer& timer = *new DeadlineTimer();
  return timer;
}

DeadlineTimer::DeadlineTimer() {
  std::thread thread([this] { Loop(); });
  thread_id_ = thread.get_id();
  thread.detach();
}

void DeadlineTimer::Arm(Handle* handle) {
  std::lock_guard lock(mutex_);
  handle->next_ = armed_;
  if (armed_ != nullptr) armed_->previous_ = handle;
  armed_ = handle;
  handle->linked_ = true;
  if (handle->deadline_ < next_look_) {
    next_look_ = handle->deadline_;
    wake_.notify_one();
  }
}

void DeadlineTimer::Disarm(Handle* handle) {
  std::unique_lock lock(mutex_);
  if (handle->linked_) Unlink(handle);
  if (std::this_thread::get_id() == thread_id_) return;
  fired_.wait(lock, [&] { return firing_ != handle; });
}

void DeadlineTimer::Unlink(Handle* handle) {
  (handle->previous_ != nullptr ? handle->previous_->next_ : armed_) = handle->next_;
  if (handle->next_ != nullptr) handle->next_->previous_ = handle->previous_;
  handle->linked_ = false;
}

void DeadlineTimer::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    const TimePoint now = std::chrono::steady_clock::now();
    Handle* due = nullptr;
    next_look_ = TimePoint::max();
    for (Handle* handle = armed_; handle != nullptr; handle = handle->next_) {
      if (handle->deadline_ <= now) due = handle;
      next_look_ = std::min(next_look_, handle->deadline_);
    }
    if (due != nullptr) {
      Unlink(due);
      firing_ = due;
      CancellationToken& token = due->token_;
      const std::chrono::duration<double> allowed = due->deadline_ - due->armed_at_;
      lock.unlock();
      token.Cancel(Status(Code::kDeadlineExceeded, fmt::format("deadline of {:.3g} s exceeded",
                                                               std::max(0.0, allowed.count()))));
      lock.lock();
      firing_ = nullptr;
      fired_.notify_all();
    } else if (next_look_ == TimePoint::max()) {
      wake_.wait(lock);
    } else {
      wake_.wait_until(lock, next_look_);
    }
  }
}

}  // namespace sextant
