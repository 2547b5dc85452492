// How the tensors of calls and answers travel: in them, in parts, in shared memory.
#include <unistd.h>

#include "sextant/base/error.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/frame_memory.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/wire.h"
#include "sextant/net/frame_parts.h"
#include "sextant/net/grpc_frame.h"

namespace sextant::dist {

Tensor Peer::FetchKept(uint64_t run, uint64_t maker, int32_t position,
                       CancellationToken& cancellation) {
  std::vector<Tensor> parts;
  for (uint32_t part = 0;; ++part) {
    KeptHeader header;
    header.set_run(run);
    header.set_maker(maker);
    header.set_position(position);
    header.set_part(part);
    net::DecodedFrame frame = net::FromByteBuffer(
        Ask(kFetchKeptMethod, net::ToByteBuffer(net::EncodeFrame(header.SerializeAsString(), {})),
            cancellation),
        FrameMemory());
    const uint32_t count = ParseHeader<ReplyHeader>(frame.message).parts();
    if (part > 0 && frame.tensors.size() == 1) parts.push_back(std::move(frame.tensors[0]));
    if (part < count) continue;
    if (count > 0) frame = net::JoinFrame(parts, FrameMemory());
    if (frame.tensors.size() != 1) throw DataLoss("{} gave no tensor", place_);
    return std::move(frame.tensors[0]);
  }
}

uint32_t Peer::SendParts(uint64_t sequence, uint64_t run, std::span<const Tensor> tensors,
                         CancellationToken& cancellation) {
  const net::EncodedFrame frame = net::EncodeFrame("", tensors);
  const size_t count = net::NumParts(frame, net::kPartBytes);
  for (size_t i = 0; i < count; ++i) {
    PartHeader header;
    FillStamp(sequence, run, header.mutable_stamp());
    header.set_index(static_cast<uint32_t>(i));
    header.set_count(static_cast<uint32_t>(count));
    const Tensor part = net::CutPart(frame, net::kPartBytes, i);
    Ask(kSendPartMethod,
        net::ToByteBuffer(net::EncodeFrame(header.SerializeAsString(), {&part, 1})), cancellation);
  }
  return static_cast<uint32_t>(count);
}

std::vector<Tensor> Peer::Take(const grpc::ByteBuffer& answer, uint64_t sequence, uint64_t run,
                               CancellationToken& cancellation,
                               std::span<const std::shared_ptr<SharedFrames>> shared) {
  net::DecodedFrame frame = net::FromByteBuffer(answer, FrameMemory());
  const auto header = ParseHeader<ReplyHeader>(frame.message);
  if (header.has_shared()) {
    CountShared(header.shared().bytes());
    for (const auto& frames : shared) {
      if (frames && frames->Knows(header.shared()))
        return frames->Read(header.shared(), /*transient=*/false);
      StopSharing(frames.get());  // e.g. no more memory can be mapped
    }
    throw MakeError<Code::kAborted>("an answer of {} is in memory that cannot be seen", place_);
  }
  const uint32_t count = header.parts();
  if (count == 0) return std::move(frame.tensors);
  std::vector<Tensor> parts;
  for (uint32_t i = 0; i < count; ++i) {
    PartHeader wanted;
    FillStamp(sequence, run, wanted.mutable_stamp());
    wanted.set_index(i);
    wanted.set_count(count);
    net::DecodedFrame part = net::FromByteBuffer(
        Ask(kFetchPartMethod, net::ToByteBuffer(net::EncodeFrame(wanted.SerializeAsString(), {})),
            cancellation),
        FrameMemory());
    if (part.tensors.size() != 1) throw DataLoss("{} gave a part without bytes", place_);
    parts.push_back(std::move(part.tensors[0]));
  }
  return net::JoinFrame(parts, FrameMemory()).tensors;
}

std::shared_ptr<SharedFrames> Peer::shared_frames() const {
  const std::lock_guard lock(mutex_);
  return shared_;
}

void Peer::ShareWith(const HelloReply& hello) {
  if (!options_.shared_frames || !SharedFramesWanted() || shared_with_ == hello.incarnation())
    return;
  shared_with_ = hello.incarnation();
  shared_ = hello.shared_frames().empty() ? nullptr
                                          : SharedFrames::Connect(hello.shared_frames(), geteuid());
}

void Peer::StopSharing(const SharedFrames* frames) {
  const std::lock_guard lock(mutex_);
  if (shared_.get() == frames) shared_ = nullptr;
}

void Peer::Tidy() {
  const std::shared_ptr<SharedFrames> shared = shared_frames();
  if (shared && !shared->Tidy(SharedFrames::Clock::now())) StopSharing(shared.get());
}

}  // namespace sextant::dist
