// RunCancellation: what ends one run of a session before its time.
#pragma once

#include <chrono>
#include <optional>

#include "sextant/base/cancellation.h"
#include "sextant/runtime/session.h"

namespace sextant {

// The time that is so far from now; never, where the clock does not reach that far.
inline std::chrono::steady_clock::time_point TimeAfter(std::chrono::milliseconds time) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  if (time <= std::chrono::milliseconds::zero()) return now;
  const auto most = std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now);
  return time < most ? now + time : Clock::time_point::max();
}

// The cancellation of one run: the session's, a caller's, a deadline's.
class RunCancellation {
 public:
  RunCancellation(const RunOptions& options, const SessionOptions& session_options,
                  CancellationToken& session) {
    const auto deadline = options.deadline ? options.deadline : session_options.deadline;
    if (!deadline && !options.cancellation) {
      token_ = &session;
      return;
    }
    token_ = &own_.emplace();
    session_link_ = Link(session);
    if (options.cancellation) caller_link_ = Link(*options.cancellation);
    if (deadline) timer_.emplace(*deadline, *own_);
  }
  CancellationToken& token() { return *token_; }

 private:
  struct Timer {
    Timer(std::chrono::milliseconds deadline, CancellationToken& token)
        : handle(DeadlineTimer::Schedule(TimeAfter(deadline), token)) {}
    DeadlineTimer::Handle handle;
  };
  CancellationToken::Registration Link(CancellationToken& outer) {
    return outer.OnCancel([this, &outer] { own_->Cancel(outer.status()); });
  }

  CancellationToken* token_ = nullptr;
  std::optional<CancellationToken> own_;
  CancellationToken::Registration session_link_, caller_link_;
  std::optional<Timer> timer_;
};

}  // namespace sextant
