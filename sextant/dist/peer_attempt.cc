#include "sextant/dist/peer_attempt.h"

#include <grpcpp/channel.h>

#include <algorithm>

namespace sextant::dist {
namespace {

// A process that is gone refuses connections; a network that was cut for a moment takes them again.
constexpr std::chrono::milliseconds kRefusedTime(1000);
constexpr std::chrono::milliseconds kShortPause(10), kLongPause(160);

}  // namespace

std::chrono::system_clock::time_point In(std::chrono::milliseconds time) {
  return std::chrono::system_clock::now() + time;
}

void Peer::Attempt::Ended(const grpc::Status& result) {
  {
    const std::lock_guard lock(mutex);
    status = result;
    done = true;
  }
  ended.notify_all();  // whoever wakes finds the lock free
}

bool Peer::Attempt::WaitFor(std::chrono::milliseconds time, CancellationToken& cancellation) {
  const auto wake = cancellation.OnCancel([this] {
    const std::lock_guard lock(mutex);
    ended.notify_all();
  });
  std::unique_lock lock(mutex);
  ended.wait_for(lock, time, [&] { return done || cancellation.cancelled(); });
  return done;
}

bool Peer::Attempt::answered() {
  const std::lock_guard lock(mutex);
  return done && status.ok();
}

void Peer::NoteHindrance(const grpc::Status& status) {
  // A call that was given up, or ran into its own deadline, tells nothing of the way.
  if (!status.ok() && net::HindranceOf(status) == net::Hindrance::kNone) return;
  const std::lock_guard lock(mutex_);
  hindrance_ = net::FromGrpcStatus(status).message();
}

std::string Peer::hindrance() const {
  const std::lock_guard lock(mutex_);
  return hindrance_.empty() ? "" : " (" + hindrance_ + ")";
}

void RetryPolicy::Failed(const grpc::Status& status, CancellationToken& cancellation) {
  peer_.NoteHindrance(status);
  cancellation.ThrowIfCancelled();
  peer_.ThrowUnlessTransient(status, failures_ > 0, session_);
  const net::Hindrance hindrance = net::HindranceOf(status);
  if (hindrance != net::Hindrance::kRefused) {
    refused_since_ = {};
  } else {
    const auto now = std::chrono::steady_clock::now();
    if (refused_since_ == std::chrono::steady_clock::time_point()) refused_since_ = now;
    if (now - refused_since_ > kRefusedTime && !peer_.Awaited(refused_since_)) throw peer_.Gone();
  }
  // A connection that was cut is made anew at once; one that cannot be made is not tried in a loop.
  if (failures_++ == 0 && hindrance == net::Hindrance::kNone) return;
  PauseFor(std::min(kShortPause * (1 << std::min(failures_, 5)), kLongPause), cancellation);
  peer_.ConnectAgain();
}

void PauseFor(std::chrono::milliseconds time, CancellationToken& cancellation) {
  std::mutex mutex;
  std::condition_variable cancelled;
  {
    const auto wake = cancellation.OnCancel([&] {
      const std::lock_guard lock(mutex);
      cancelled.notify_all();
    });
    std::unique_lock lock(mutex);
    cancelled.wait_for(lock, time, [&] { return cancellation.cancelled(); });
  }
  cancellation.ThrowIfCancelled();
}

}  // namespace sextant::dist
