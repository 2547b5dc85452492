// PartStore: parts of frames that are too large for one message, at the server: those that have
// come before their call, and those of answers, until the caller has fetched them.
//
// Thread-safe. A frame is known by the sender and the sequence number of its call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sextant/net/frame.h"

namespace sextant::dist {

class PartStore {
 public:
  using Key = std::pair<uint64_t, uint64_t>;  // sender, sequence

  // Throws INVALID_ARGUMENT for an index or a count that cannot be.
  void Add(const Key& key, size_t index, size_t count, Tensor part);
  // The tensors of the frame whose parts have come. Throws DATA_LOSS when some are missing.
  std::vector<Tensor> Take(const Key& key, size_t count);

  // An answer, whole or, when it is too large, in parts that stay here.
  net::EncodedFrame Answer(const Key& key, const std::vector<Tensor>& tensors);
  // Throws NOT_FOUND.
  Tensor Find(const Key& key, size_t index) const;

  // The sender has the answers of all calls below that number.
  void Forget(uint64_t sender, uint64_t done_below);

 private:
  mutable std::mutex mutex_;
  std::map<Key, std::vector<Tensor>> incoming_;
  std::map<Key, std::shared_ptr<const std::vector<Tensor>>> answers_;
};

}  // namespace sextant::dist
