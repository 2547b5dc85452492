// How the tensors of calls and answers travel: in them, in parts, in shared memory.
#include <unistd.h>

#include <cstring>

#include "sextant/base/error.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/frame_memory.h"
#include "sextant/dist/peer.h"
#include "sextant/dist/wire.h"
#include "sextant/net/frame_parts.h"
#include "sextant/net/grpc_frame.h"

namespace sextant::dist {

std::vector<Tensor> Peer::FetchKept(KeptHeader wanted, CancellationToken& cancellation) {
  ++calls_;
  MeetKeeper(wanted.receiver(), cancellation);
  const auto ask = [&] {
    const net::EncodedFrame request = net::EncodeFrame(wanted.SerializeAsString(), {});
    return net::FromByteBuffer(Ask(kFetchKeptMethod, net::ToByteBuffer(request), cancellation),
                               FrameMemory());
  };
  std::shared_ptr<SharedFrames> shared = shared_frames();
  if (shared) wanted.set_shared_frames(shared->number());
  net::DecodedFrame frame = ask();
  auto header = ParseHeader<ReplyHeader>(frame.message);
  if (shared && header.has_shared()) {
    if (shared->Knows(header.shared())) {
      CountShared(header.shared().bytes());
      return shared->Read(header.shared(), /*transient=*/true);
    }
    StopSharing(shared.get());  // e.g. no more memory can be mapped
    wanted.clear_shared_frames();
    frame = ask();
    header = ParseHeader<ReplyHeader>(frame.message);
  }
  if (header.parts() == 0) return std::move(frame.tensors);
  wanted.clear_shared_frames();
  std::vector<Tensor> parts;
  while (parts.size() < header.parts()) {
    wanted.set_part(static_cast<uint32_t>(parts.size()) + 1);
    net::DecodedFrame part = ask();
    if (part.tensors.size() != 1) throw DataLoss("{} gave a part without bytes", place());
    parts.push_back(std::move(part.tensors[0]));
  }
  return net::JoinFrame(parts, FrameMemory()).tensors;
}

void Peer::NameKeepers(const Fragment& fragment, uint64_t run, CallHeader* header) const {
  if (!options_.keeper) return;
  std::set<std::string_view> named = {fragment.task};
  for (const Fragment::KeptInput& input : fragment.kept_inputs) {
    if (!named.insert(input.task).second) continue;
    Keeper* keeper = header->add_keepers();
    keeper->set_task(input.task);
    keeper->set_incarnation(options_.keeper(input.task, run));
  }
}

void Peer::SendPart(uint64_t sequence, RunId run, size_t index, size_t count, const Tensor& part,
                    CancellationToken& cancellation) {
  PartHeader header;
  FillStamp(sequence, run, header.mutable_stamp());
  header.set_index(static_cast<uint32_t>(index));
  header.set_count(static_cast<uint32_t>(count));
  Ask(kSendPartMethod, net::ToByteBuffer(net::EncodeFrame(header.SerializeAsString(), {&part, 1})),
      cancellation, {}, run.session);
}

uint32_t Peer::SendParts(uint64_t sequence, RunId run, std::span<const Tensor> tensors,
                         CancellationToken& cancellation) {
  const net::EncodedFrame frame = net::EncodeFrame("", tensors);
  const size_t count = net::NumParts(frame, net::kPartBytes);
  for (size_t i = 0; i < count; ++i)
    SendPart(sequence, run, i, count, net::CutPart(frame, net::kPartBytes, i), cancellation);
  return static_cast<uint32_t>(count);
}

uint32_t Peer::SendBytes(uint64_t sequence, std::string_view bytes,
                         CancellationToken& cancellation) {
  const size_t count = (bytes.size() + net::kPartBytes - 1) / net::kPartBytes;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view cut = bytes.substr(i * net::kPartBytes, net::kPartBytes);
    Tensor part(DType::kUInt8, Shape{static_cast<int64_t>(cut.size())}, FrameMemory());
    std::memcpy(part.raw_data(), cut.data(), cut.size());
    SendPart(sequence, 0, i, count, part, cancellation);
  }
  return static_cast<uint32_t>(count);
}

std::vector<Tensor> Peer::Take(const grpc::ByteBuffer& answer, uint64_t sequence, RunId run,
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
    throw MakeError<Code::kAborted>("an answer of {} is in memory that cannot be seen", place());
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
            cancellation, {}, run.session),
        FrameMemory());
    if (part.tensors.size() != 1) throw DataLoss("{} gave a part without bytes", place());
    parts.push_back(std::move(part.tensors[0]));
  }
  return net::JoinFrame(parts, FrameMemory()).tensors;
}

std::shared_ptr<SharedFrames> Peer::shared_frames() const {
  const std::lock_guard lock(mutex_);
  return shared_;
}

void Peer::ShareWith(const HelloReply& hello) {
  if (std::exchange(met_, hello.incarnation()) == hello.incarnation()) return;
  const bool share =
      options_.shared_frames && SharedFramesWanted() && !hello.shared_frames().empty();
  shared_ = share ? SharedFrames::Connect(hello.shared_frames(), geteuid()) : nullptr;
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
