// PeerCall: a call of a fragment under way, at the client's end.
#pragma once

#include <future>
#include <memory>
#include <optional>
#include <vector>

#include "sextant/base/wait_notice.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/peer_attempt.h"

namespace sextant::dist {

class PeerCall : public RemoteCall {
 public:
  PeerCall(std::shared_ptr<Peer> peer, std::shared_ptr<const Fragment> fragment, RunId run,
           std::vector<Tensor> inputs, std::optional<StepToken> token);
  // Cancels the call at the other end when it has no answer yet.
  ~PeerCall() override;

  bool WaitFor(std::chrono::milliseconds time, CancellationToken& cancellation) override;
  void Take(std::span<Tensor> outputs, CancellationToken& cancellation) override;
  bool stale() const override { return stale_; }
  std::string hindrance() const override { return peer_->hindrance(); }

 private:
  void Send(CancellationToken& cancellation);
  grpc::ByteBuffer Encode(uint32_t parts, std::span<const Tensor> tensors) const;
  void WriteShared();
  // Deals with a failed attempt: returns when the call may be sent again, else throws.
  void Recover(CancellationToken& cancellation);

  const std::shared_ptr<Peer> peer_;
  const std::shared_ptr<const Fragment> fragment_;
  const RunId run_;
  const std::vector<Tensor> inputs_;
  const std::optional<StepToken> token_;
  const bool large_;
  const uint64_t sequence_;
  RetryPolicy retry_;
  bool stale_ = false;
  // The connections that attempts have named, null for none, and the inputs there, null where they
  // were in the call. All stay until the end: an earlier attempt may still arrive and be answered.
  std::vector<std::shared_ptr<SharedFrames>> shared_;
  std::vector<std::shared_ptr<const SharedFrames::Written>> written_;
  std::shared_ptr<Peer::Attempt> attempt_;
  WaitNotice notice_;
  // The first sending, where it would have made Start wait: the peer has not been met, or the
  // inputs go in parts.
  CancellationToken given_up_;
  std::future<void> sending_;
};

}  // namespace sextant::dist
