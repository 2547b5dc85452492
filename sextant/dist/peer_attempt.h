// One sending of a request to a peer, and how a client waits and fails.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

#include "sextant/base/cancellation.h"
#include "sextant/dist/peer.h"
#include "sextant/net/async_call.h"

namespace sextant::dist {

inline constexpr std::chrono::seconds kReportTime(10);
// How often somebody who waits looks up, to say for whom.
inline constexpr std::chrono::milliseconds kWaitLook(1000);
// A call without an answer is sent again after that time: the answer may have been lost.
inline constexpr std::chrono::seconds kAttemptTime(20);

std::chrono::system_clock::time_point In(std::chrono::milliseconds time);

// gRPC's callback may come after all others have let go of the attempt.
struct Peer::Attempt : net::AsyncCall {
  grpc::ClientContext context;
  grpc::ByteBuffer request, response;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  grpc::Status status;

  void Ended(const grpc::Status& result) override;
  // False when it is not done after that time, or the token is cancelled first.
  bool WaitFor(std::chrono::milliseconds time, CancellationToken& cancellation);
  bool answered();
};

// When a request that failed may be sent again.
class RetryPolicy {
 public:
  // "session" is that which sends it.
  explicit RetryPolicy(Peer& peer, uint64_t session = 0) : peer_(peer), session_(session) {}
  // Returns after a short pause. Throws the error, naming the task, when it is not transient, when
  // credentials do not fit or when nobody has listened for longer than a network that was cut for a
  // moment takes to come back; the token's once cancelled.
  void Failed(const grpc::Status& status, CancellationToken& cancellation);

 private:
  Peer& peer_;
  const uint64_t session_;
  int failures_ = 0;
  std::chrono::steady_clock::time_point refused_since_ = {};
};

// Returns early when the token is cancelled, by throwing its error.
void PauseFor(std::chrono::milliseconds time, CancellationToken& cancellation);

}  // namespace sextant::dist
