// RandomState: the position of one stateful random node in its stream, kept from run to run.
#pragma once

#include <mutex>
#include <string>

#include "sextant/base/philox.h"
#include "sextant/tensor/handle.h"

namespace sextant {

// Thread-safe. Lives in the ResourceManager under kContainer and the node's name, so that it can be
// listed, saved and restored between steps.
class RandomState final : public Resource {
 public:
  static constexpr const char* kTypeName = "RandomState";
  static constexpr const char* kContainer = "_random";

  explicit RandomState(const Philox& start) : start_(start), next_(start) {}

  // The current position; the next caller starts "num_blocks" further on.
  Philox Reserve(uint64_t num_blocks) {
    std::lock_guard lock(mutex_);
    const Philox start = next_;
    next_.Skip(num_blocks);
    return start;
  }
  Philox position() const {
    std::lock_guard lock(mutex_);
    return next_;
  }
  void set_position(const Philox& position) {
    std::lock_guard lock(mutex_);
    next_ = position;
  }
  // As if it had never been used.
  void Rewind() { set_position(start_); }
  std::string DebugString() const override { return "random stream"; }

 private:
  const Philox start_;
  mutable std::mutex mutex_;
  Philox next_;
};

}  // namespace sextant
