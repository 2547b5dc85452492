#include "sextant/tensor/buffer.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>

#include "sextant/base/error.h"

namespace sextant {
namespace {

class PlainHostAllocator : public Allocator {
 public:
  void* Allocate(size_t bytes) override {
    if (bytes <= kSmallBytes) return AllocateSmall(bytes);
    const size_t alignment = bytes >= kLargeBytes ? kLargePage : kBufferAlignment;
    const size_t size = ((bytes - 1) / alignment + 1) * alignment;
    void* memory = bytes <= kMaxBytes ? std::aligned_alloc(alignment, size) : nullptr;
    if (!memory) throw ResourceExhausted("cannot allocate {} bytes of host memory", bytes);
    // Where the system has no large pages for us, small ones do.
    if (bytes >= kLargeBytes) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
  }
  void Free(void* memory, size_t bytes) override {
    std::free(bytes <= kSmallBytes ? static_cast<void**>(memory)[-1] : memory);
  }

 private:
  // malloc keeps small blocks at hand for each thread, but takes a slower way when asked to align
  // one. So small blocks are aligned here; where malloc's begins is noted in front of it, where a
  // multiple of 16 leaves room. As of larger blocks, what follows up to a multiple of the alignment
  // belongs to the block: a load of a whole vector at its end stays inside.
  static void* AllocateSmall(size_t bytes) {
    static_assert(alignof(std::max_align_t) >= 2 * sizeof(void*));
    const size_t size = (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
    void* const whole = std::malloc(size + kBufferAlignment);
    if (whole == nullptr) {
      throw ResourceExhausted("cannot allocate {} bytes of host memory", bytes);
    }
    const auto address = reinterpret_cast<uintptr_t>(whole);
    const size_t offset = kBufferAlignment - address % kBufferAlignment;
    void* const memory = static_cast<char*>(whole) + offset;
    static_cast<void**>(memory)[-1] = whole;
    return memory;
  }

  // What malloc keeps at hand has up to about 1,000 bytes.
  static constexpr size_t kSmallBytes = 896;
  // More than any host has; sanitizers end the process when asked for 2^40 bytes.
  static constexpr size_t kMaxBytes = size_t{1} << 39;
  // Large pages save a matrix product over 13 MB of weights a fifth of its time.
  static constexpr size_t kLargePage = size_t{2} << 20, kLargeBytes = 2 * kLargePage;
};

class AllocatedBuffer : public Buffer {
 public:
  AllocatedBuffer(void* data, size_t bytes, Allocator& allocator)
      : Buffer(data, bytes), allocator_(allocator) {}

 private:
  ~AllocatedBuffer() override { allocator_.Free(data(), size()); }

  Allocator& allocator_;
};

}  // namespace

Allocator& HostAllocator() {
  // Never destroyed: tensors in static variables may outlive it.
  static Allocator* const allocator = new PlainHostAllocator;
  return *allocator;
}

BufferRef NewBuffer(size_t bytes, Allocator& allocator) {
  return BufferRef(new AllocatedBuffer(allocator.Allocate(bytes), bytes, allocator));
}

}  // namespace sextant
