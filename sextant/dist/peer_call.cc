#include "sextant/dist/peer_call.h"

#include <algorithm>

#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/wire.h"
#include "sextant/net/grpc_frame.h"

namespace sextant::dist {

PeerCall::PeerCall(std::shared_ptr<Peer> peer, std::shared_ptr<const Fragment> fragment, RunId run,
                   std::vector<Tensor> inputs, std::optional<StepToken> token)
    : peer_(std::move(peer)),
      fragment_(std::move(fragment)),
      run_(run),
      inputs_(std::move(inputs)),
      token_(token),
      large_(IsLarge(inputs_)),
      sequence_(peer_->BeginCall()),
      retry_(*peer_, run_.session) {
  if (!large_ && peer_->connected(run_.session)) {
    Send(given_up_);
  } else {
    sending_ = std::async(std::launch::async, [this] { Send(given_up_); });
  }
}

PeerCall::~PeerCall() {
  given_up_.Cancel();
  if (sending_.valid()) sending_.wait();
  if (attempt_ && !attempt_->answered()) {
    attempt_->context.TryCancel();
    peer_->CancelCall(sequence_, run_);
  }
  peer_->EndCall(sequence_);
}

grpc::ByteBuffer PeerCall::Encode(uint32_t parts, std::span<const Tensor> tensors) const {
  CallHeader header;
  peer_->FillStamp(sequence_, run_, header.mutable_stamp());
  header.set_fingerprint(fragment_->fingerprint);
  header.set_parts(parts);
  peer_->NameKeepers(*fragment_, run_.run, &header);
  if (token_) {
    header.mutable_token()->set_step(token_->step);
    header.mutable_token()->set_number(token_->number);
  }
  if (shared_.back()) header.set_shared_frames(shared_.back()->number());
  if (written_.back()) *header.mutable_shared() = written_.back()->place();
  return net::ToByteBuffer(net::EncodeFrame(header.SerializeAsString(), tensors));
}

void PeerCall::WriteShared() {
  std::shared_ptr<SharedFrames> shared = peer_->shared_frames();
  if (!shared_.empty() && shared == shared_.back()) return;
  written_.push_back(shared ? shared->Write(inputs_) : nullptr);
  shared_.push_back(std::move(shared));
  if (written_.back()) peer_->CountShared(written_.back()->place().bytes());
}

void PeerCall::Send(CancellationToken& cancellation) {
  peer_->Connect(cancellation, run_.session);
  WriteShared();
  const bool written = written_.back() != nullptr, in_parts = large_ && !written;
  const uint32_t parts = in_parts ? peer_->SendParts(sequence_, run_, inputs_, cancellation) : 0;
  attempt_ = peer_->Send(kCallMethod, Encode(parts, written || in_parts ? std::span<const Tensor>()
                                                                        : std::span(inputs_)));
}

bool PeerCall::WaitFor(std::chrono::milliseconds time, CancellationToken& cancellation) {
  if (sending_.valid()) {
    const auto pass_on = cancellation.OnCancel([&] { given_up_.Cancel(cancellation.status()); });
    if (sending_.wait_for(time) != std::future_status::ready) return false;
    sending_.get();
  }
  for (;; time -= kWaitLook) {
    while (attempt_->WaitFor(std::min(time, kWaitLook), cancellation)) {
      if (attempt_->status.ok()) {
        peer_->NoteHindrance(attempt_->status);
        return true;
      }
      Recover(cancellation);
      Send(cancellation);
    }
    cancellation.ThrowIfCancelled();
    notice_.Say([&] {
      return fmt::format("still waiting for {} at {}: it has not answered a call yet",
                         peer_->place(), peer_->address());
    });
    if (time <= kWaitLook) return false;
  }
}

void PeerCall::Take(std::span<Tensor> outputs, CancellationToken& cancellation) {
  peer_->CountReceived(attempt_->response.Length());
  std::vector<Tensor> tensors =
      peer_->Take(attempt_->response, sequence_, run_, cancellation, shared_);
  if (tensors.size() != outputs.size()) {
    throw DataLoss("{} gave {} tensors where {} were asked for", peer_->place(), tensors.size(),
                   outputs.size());
  }
  std::move(tensors.begin(), tensors.end(), outputs.begin());
  if (token_)
    stale_ = ParseHeader<ReplyHeader>(net::FromByteBuffer(attempt_->response).message).stale();
}

void PeerCall::Recover(CancellationToken& cancellation) {
  if (attempt_->status.error_details() == kUnknownFragment)
    return peer_->Register(*fragment_, cancellation, run_.session);
  if (attempt_->status.error_details() == kUnknownSegment)
    return peer_->StopSharing(shared_.back().get());
  if (peer_->Restarted(attempt_->status, run_.session)) throw RestartedError(*fragment_);
  retry_.Failed(attempt_->status, cancellation);
  peer_->CountRetry();
}

}  // namespace sextant::dist
