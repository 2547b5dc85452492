// PartStore: parts of what is too large for one message, at the server: of frames and graphs that
// have come before their request, and of answers, until the caller has fetched them.
//
// Thread-safe. They are known by the sender and the sequence number of the request.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sextant/dist/sender_progress.h"
#include "sextant/net/frame.h"
#include "sextant/proto/cluster.pb.h"

namespace sextant::dist {

class PartStore {
 public:
  using Key = std::pair<uint64_t, uint64_t>;  // sender, sequence
  using Clock = std::chrono::steady_clock;

  // Throws INVALID_ARGUMENT for an index or a count that cannot be.
  void Add(const Key& key, size_t index, size_t count, Tensor part);
  // The tensors of the frame whose parts have come. Throws DATA_LOSS when some are missing.
  std::vector<Tensor> Take(const Key& key, size_t count);
  // The bytes whose parts have come. Throws DATA_LOSS when some are missing, INVALID_ARGUMENT when
  // they are too many for a message of protobuf.
  std::string TakeBytes(const Key& key, size_t count);

  // An answer, whole or, when it is too large, in parts that stay here as long as it is held. The
  // store outlives it.
  struct StoredAnswer {
    net::EncodedFrame frame;
    std::shared_ptr<const void> parts;
  };
  StoredAnswer Answer(const Key& key, const std::vector<Tensor>& tensors, ReplyHeader header = {});
  // Throws NOT_FOUND.
  Tensor Find(const Key& key, size_t index) const;

  // What came for calls that have ended for their sender.
  void Forget(const SenderProgress& progress);
  void ForgetSender(uint64_t sender);
  // Whose senders have given up: those that have got no part since then.
  void ForgetStalled(Clock::time_point since);

  size_t bytes() const;  // of all parts

 private:
  struct Incoming {
    std::vector<Tensor> parts;
    Clock::time_point grown;
  };
  std::vector<Tensor> TakeParts(const Key& key, size_t count);

  mutable std::mutex mutex_;
  std::map<Key, Incoming> incoming_;
  std::map<Key, const std::vector<Tensor>*> answers_;  // that are held
};

}  // namespace sextant::dist
