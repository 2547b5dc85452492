#include "sextant/dist/frame_memory.h"

#include <malloc.h>

#include "sextant/device/pool_allocator.h"

namespace sextant::dist {

Allocator& FrameMemory() {
  // Never destroyed: tensors in static variables may outlive it.
  static PoolAllocator* const pool = [] {
    ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that glibc allows
    ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
    return PoolAllocator::New().release();
  }();
  return *pool;
}

}  // namespace sextant::dist
