#include "sextant/device/pool_allocator.h"

#include <algorithm>
#include <bit>

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 62;

struct SizeClass {
  int index;
  size_t bytes;
};

// In units of 64 bytes the classes are 1, 2, 3, 4, then 5, 6, 7, 8, then 10, 12, 14, 16, ...
SizeClass ClassOf(size_t bytes) {
  const size_t units = bytes == 0 ? 1 : (bytes - 1) / kBufferAlignment + 1;
  if (units <= 4) return {static_cast<int>(units) - 1, units * kBufferAlignment};
  const int shift = std::bit_width(units - 1) - 3;  // the step between classes is 2^shift units
  const size_t steps = ((units - 1) >> shift) + 1;  // 5 to 8
  return {4 * (shift + 1) + static_cast<int>(steps) - 5, (steps << shift) * kBufferAlignment};
}

size_t BytesOfClass(int index) {
  const int shift = std::max(index / 4 - 1, 0);
  const size_t steps = static_cast<size_t>(index % 4) + (index < 4 ? 1 : 5);
  return (steps << shift) * kBufferAlignment;
}

}  // namespace

PoolAllocator::Owner PoolAllocator::New(const PoolAllocatorOptions& options) {
  return Owner(new PoolAllocator(options));
}

PoolAllocator::~PoolAllocator() { TrimLocked(0); }

void PoolAllocator::Release::operator()(PoolAllocator* pool) const {
  bool last;
  {
    std::lock_guard lock(pool->mutex_);
    pool->owned_ = false;
    last = pool->num_blocks_ == 0;
    pool->TrimLocked(0);
  }
  if (last) delete pool;
}

void* PoolAllocator::Allocate(size_t bytes) {
  if (bytes > kMaxBytes) throw ResourceExhausted("cannot allocate {} bytes", bytes);
  const SizeClass size = ClassOf(bytes);
  std::lock_guard lock(mutex_);
  Statistics& s = statistics_;
  if (size.bytes > options_.limit - std::min(options_.limit, s.in_use)) {
    throw ResourceExhausted("{} bytes requested, {} in use, limit {}", bytes, s.in_use,
                            options_.limit);
  }
  void* memory = free_[size.index];
  if (memory != nullptr) {
    free_[size.index] = free_[size.index]->next;
    s.kept -= size.bytes;
  } else {
    // What is kept counts as memory of the process too.
    const size_t room = options_.limit - s.in_use - size.bytes;
    if (s.kept > room) TrimLocked(room);
    memory = HostAllocator().Allocate(size.bytes);
  }
  ++num_blocks_;
  s.in_use += size.bytes;
  s.peak = std::max(s.peak, s.in_use);
  return memory;
}

void PoolAllocator::Free(void* memory, size_t bytes) {
  const SizeClass size = ClassOf(bytes);
  bool last;
  {
    std::lock_guard lock(mutex_);
    statistics_.in_use -= size.bytes;
    last = --num_blocks_ == 0 && !owned_;
    const size_t most = std::max(options_.max_kept, statistics_.in_use / 2);
    if (owned_ && statistics_.kept + size.bytes <= most) {
      free_[size.index] = new (memory) FreeBlock{free_[size.index]};
      statistics_.kept += size.bytes;
      return;
    }
  }
  HostAllocator().Free(memory, size.bytes);
  if (last) delete this;
}

PoolAllocator::Statistics PoolAllocator::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

void PoolAllocator::ResetPeak() {
  std::lock_guard lock(mutex_);
  statistics_.peak = statistics_.in_use;
}

// Gives the largest blocks back until at most "target" bytes are kept.
void PoolAllocator::TrimLocked(size_t target) {
  for (int index = kNumClasses - 1; index >= 0 && statistics_.kept > target; --index) {
    const size_t bytes = BytesOfClass(index);
    while (free_[index] != nullptr && statistics_.kept > target) {
      FreeBlock* block = free_[index];
      free_[index] = block->next;
      HostAllocator().Free(block, bytes);
      statistics_.kept -= bytes;
    }
  }
}

}  // namespace sextant
