// PoolAllocator: keeps freed blocks for the next caller, counts them and obeys a limit.
//
// Blocks come in size classes, four to each power of two, with one list of free blocks each.
// Thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "sextant/base/export.h"
#include "sextant/tensor/buffer.h"

namespace sextant {

struct PoolAllocatorOptions {
  // Most bytes in use at one time.
  size_t limit = std::numeric_limits<size_t>::max();
  // Free blocks are kept up to this many bytes, or half of what is in use if that is more; what is
  // freed beyond goes back to the host.
  size_t max_kept = size_t{256} << 20;
};

class SEXTANT_API PoolAllocator final : public Allocator {
 public:
  struct Release {
    void operator()(PoolAllocator* pool) const;
  };
  // Blocks may outlive the owner of the pool: then the last of them ends it.
  using Owner = std::unique_ptr<PoolAllocator, Release>;
  static Owner New(const PoolAllocatorOptions& options = {});

  // Throws RESOURCE_EXHAUSTED, with the numbers, where the limit would be passed.
  void* Allocate(size_t bytes) override;
  void Free(void* memory, size_t bytes) override;

  // Sizes are those of the blocks, up to a quarter more than was asked for.
  struct Statistics {
    size_t in_use = 0;
    size_t peak = 0;  // most that was in use since ResetPeak
    size_t kept = 0;  // free blocks
  };
  Statistics statistics() const;
  void ResetPeak();

 private:
  struct FreeBlock {
    FreeBlock* next;
  };
  static constexpr int kNumClasses = 220;

  explicit PoolAllocator(const PoolAllocatorOptions& options) : options_(options) {}
  ~PoolAllocator() override;
  void TrimLocked(size_t target);

  const PoolAllocatorOptions options_;
  mutable std::mutex mutex_;
  std::array<FreeBlock*, kNumClasses> free_ = {};
  Statistics statistics_;
  size_t num_blocks_ = 0;  // in use
  bool owned_ = true;
};

}  // namespace sextant
