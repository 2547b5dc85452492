#include "sextant/dist/part_store.h"

#include <algorithm>
#include <climits>

#include "sextant/base/error.h"
#include "sextant/dist/frame_memory.h"
#include "sextant/net/channel.h"
#include "sextant/net/frame_parts.h"
#include "sextant/proto/cluster.pb.h"

namespace sextant::dist {
namespace {

constexpr size_t kMostParts = 4096;  // 64 GiB

}  // namespace

void PartStore::Add(const Key& key, size_t index, size_t count, Tensor part) {
  if (index >= count || count > kMostParts)
    throw InvalidArgument("part {} of {} of a frame", index, count);
  if (!part.valid() || part.dtype() != DType::kUInt8)
    throw InvalidArgument("part {} of a frame is no bytes", index);
  const std::lock_guard lock(mutex_);
  Incoming& incoming = incoming_[key];
  incoming.parts.resize(count);
  incoming.parts[index] = std::move(part);
  incoming.grown = Clock::now();
}

std::vector<Tensor> PartStore::TakeParts(const Key& key, size_t count) {
  std::vector<Tensor> parts;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = incoming_.find(key); found != incoming_.end()) {
      parts = std::move(found->second.parts);
      incoming_.erase(found);
    }
  }
  const bool whole = parts.size() == count &&
                     std::ranges::all_of(parts, [](const Tensor& part) { return part.valid(); });
  if (!whole) throw DataLoss("parts of a frame are missing");
  return parts;
}

std::vector<Tensor> PartStore::Take(const Key& key, size_t count) {
  return net::JoinFrame(TakeParts(key, count), FrameMemory()).tensors;
}

std::string PartStore::TakeBytes(const Key& key, size_t count) {
  std::vector<Tensor> parts = TakeParts(key, count);
  size_t bytes = 0;
  for (const Tensor& part : parts) bytes += part.bytes();
  if (bytes > INT_MAX)
    throw InvalidArgument("a graph of {} bytes: protobuf has at most {}", bytes, INT_MAX);
  std::string joined;
  joined.reserve(bytes);
  for (Tensor& part : parts) {
    joined.append(static_cast<const char*>(part.raw_data()), part.bytes());
    part = Tensor();
  }
  return joined;
}

PartStore::StoredAnswer PartStore::Answer(const Key& key, const std::vector<Tensor>& tensors,
                                          ReplyHeader header) {
  net::EncodedFrame frame = net::EncodeFrame(header.SerializeAsString(), tensors);
  if (frame.bytes <= net::kMaxFrameBytes) return {std::move(frame), nullptr};
  const auto withdraw = [this, key](const std::vector<Tensor>* parts) {
    const std::unique_ptr<const std::vector<Tensor>> owned(parts);  // freed without the lock
    const std::lock_guard lock(mutex_);
    const auto found = answers_.find(key);
    if (found != answers_.end() && found->second == parts) answers_.erase(found);
  };
  const std::shared_ptr<const std::vector<Tensor>> parts(
      new std::vector<Tensor>(net::CutFrame(frame, net::kPartBytes)), withdraw);
  header.set_parts(static_cast<uint32_t>(parts->size()));
  const std::lock_guard lock(mutex_);
  answers_[key] = parts.get();
  return {net::EncodeFrame(header.SerializeAsString(), {}), parts};
}

Tensor PartStore::Find(const Key& key, size_t index) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(key);
  if (found == answers_.end() || index >= found->second->size())
    throw NotFound("part {} of an answer is not here", index);
  return (*found->second)[index];
}

void PartStore::Forget(const SenderProgress& progress) {
  const std::lock_guard lock(mutex_);
  const auto end = incoming_.lower_bound({progress.sender, progress.done_below});
  for (auto it = incoming_.lower_bound({progress.sender, 0}); it != end;)
    it = progress.Ended(it->first.second) ? incoming_.erase(it) : std::next(it);
}

void PartStore::ForgetSender(uint64_t sender) {
  const std::lock_guard lock(mutex_);
  incoming_.erase(incoming_.lower_bound({sender, 0}), incoming_.upper_bound({sender, UINT64_MAX}));
}

void PartStore::ForgetStalled(Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  std::erase_if(incoming_, [since](const auto& entry) { return entry.second.grown < since; });
}

size_t PartStore::bytes() const {
  const std::lock_guard lock(mutex_);
  size_t bytes = 0;
  const auto add = [&bytes](const std::vector<Tensor>& parts) {
    for (const Tensor& part : parts) bytes += part.valid() ? part.bytes() : 0;
  };
  for (const auto& [key, incoming] : incoming_) add(incoming.parts);
  for (const auto& [key, parts] : answers_) add(*parts);
  return bytes;
}

}  // namespace sextant::dist
