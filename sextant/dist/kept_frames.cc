#include "sextant/dist/kept_frames.h"

#include "sextant/base/error.h"
#include "sextant/net/channel.h"
#include "sextant/net/frame_parts.h"

namespace sextant::dist {
namespace {

std::vector<Tensor> AllKept(const FragmentHost& host, const KeptHeader& wanted) {
  std::vector<Tensor> tensors;
  for (const KeptTensors& of : wanted.tensors()) {
    const std::span positions(of.positions().data(), static_cast<size_t>(of.positions_size()));
    for (Tensor& tensor : host.Kept(wanted.run(), of.maker(), positions))
      tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

KeptFrames::Written KeptFrames::Write(const KeptHeader& wanted, std::span<const Tensor> tensors) {
  if (shared_ == nullptr || wanted.shared_frames() == 0 || wanted.part() > 0) return nullptr;
  const std::shared_ptr<SharedFrames> shared = shared_->Find(wanted.shared_frames());
  Written written = shared ? shared->Write(tensors) : nullptr;
  if (!written) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    written_[wanted.run()].push_back(written);
  }
  try {
    AllKept(host_, wanted);
  } catch (const Error&) {  // the run has ended meanwhile: nobody else would forget the frame
    EndRun(wanted.run());
    throw;
  }
  return written;
}

net::EncodedFrame KeptFrames::Answer(const KeptHeader& wanted) {
  const std::vector<Tensor> tensors = AllKept(host_, wanted);
  ReplyHeader header;
  if (const Written written = Write(wanted, tensors)) {
    *header.mutable_shared() = written->place();
    return net::EncodeFrame(header.SerializeAsString(), {});
  }
  net::EncodedFrame frame = net::EncodeFrame(header.SerializeAsString(), tensors);
  if (frame.bytes <= net::kMaxFrameBytes) return frame;
  const size_t parts = net::NumParts(frame, net::kPartBytes);
  if (wanted.part() > parts) throw InvalidArgument("part {} of {}", wanted.part(), parts);
  header.set_parts(static_cast<uint32_t>(parts));
  std::vector<Tensor> part;
  if (wanted.part() > 0) part = {net::CutPart(frame, net::kPartBytes, wanted.part() - 1)};
  return net::EncodeFrame(header.SerializeAsString(), part);
}

void KeptFrames::EndRun(uint64_t run) {
  host_.EndRun(run);
  std::vector<Written> withdrawn;  // outside the lock
  const std::lock_guard lock(mutex_);
  if (const auto found = written_.find(run); found != written_.end()) {
    withdrawn = std::move(found->second);
    written_.erase(found);
  }
}

}  // namespace sextant::dist
