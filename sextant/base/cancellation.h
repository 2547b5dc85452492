// CancellationToken: asks running work to stop, and says why. DeadlineTimer: cancels a token at a
// point in time. Both are thread-safe; polling a token costs one atomic load.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API CancellationToken {
 public:
  CancellationToken() = default;
  CancellationToken(const CancellationToken&) = delete;
  CancellationToken& operator=(const CancellationToken&) = delete;

  // Cancels with `status` (an OK status counts as CANCELLED) and runs the callbacks on this thread.
  // Only the first call has an effect; a later one does not wait for the callbacks.
  void Cancel(Status status = Status(Code::kCancelled, "cancelled"));

  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // Why it was cancelled; OK while it is not.
  Status status() const;
  // Throws Error(status()) once cancelled.
  void ThrowIfCancelled() const {
    if (cancelled()) [[unlikely]]
      status().ThrowIfError();
  }

  // Keeps a callback registered. The destructor deregisters it and waits until it is not running,
  // except in the callback itself.
  class [[nodiscard]] Registration {
   public:
    Registration() = default;
    Registration(Registration&& other) noexcept { *this = std::move(other); }
    Registration& operator=(Registration&& other) noexcept {
      std::swap(token_, other.token_);
      std::swap(id_, other.id_);
      return *this;
    }
    ~Registration() {
      if (token_ != nullptr) token_->Deregister(id_);
    }

   private:
    friend class CancellationToken;
    Registration(CancellationToken* token, int64_t id) : token_(token), id_(id) {}

    CancellationToken* token_ = nullptr;
    int64_t id_ = 0;
  };

  // Runs `callback` once on Cancel, or here and now when already cancelled. It must not throw.
  // The registration must not outlive the token.
  Registration OnCancel(std::function<void()> callback);

 private:
  void Deregister(int64_t id);

  std::atomic<bool> cancelled_{false};
  mutable std::mutex mutex_;
  std::condition_variable callback_done_;
  Status status_;
  std::vector<std::pair<int64_t, std::function<void()>>> callbacks_;
  int64_t next_id_ = 1;
  int64_t running_id_ = 0;  // the callback that runs now, on running_thread_; 0 when none
  std::thread::id running_thread_;
};

class SEXTANT_API DeadlineTimer {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;  // a moment of the clock of deadlines

  // One armed deadline. Destroying it disarms it: once the destructor has returned the timer does
  // not touch the token.
  class [[nodiscard]] Handle {
   public:
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

   private:
    friend class DeadlineTimer;
    Handle(TimePoint deadline, CancellationToken& token);

    const TimePoint armed_at_;
    const TimePoint deadline_;
    CancellationToken& token_;
    Handle* previous_ = nullptr;  // links of the timer's list
    Handle* next_ = nullptr;
    bool linked_ = false;
  };

  // Cancels `token` with DEADLINE_EXCEEDED at `deadline`, from one thread that the process starts
  // when the first deadline is armed. Allocates nothing afterwards.
  static Handle Schedule(TimePoint deadline, CancellationToken& token) {
    return Handle(deadline, token);
  }

 private:
  static DeadlineTimer& Process();
  DeadlineTimer();
  void Arm(Handle* handle);
  void Disarm(Handle* handle);
  void Unlink(Handle* handle);
  [[noreturn]] void Loop();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable fired_;
  Handle* armed_ = nullptr;
  Handle* firing_ = nullptr;  // compared only: its callback may destroy it
  // When the thread looks at the list next. Later deadlines and disarming need not wake it.
  TimePoint next_look_ = TimePoint::max();
  std::thread::id thread_id_;
};

}  // namespace sextant

#pragma GCC visibility pop
