#include "sextant/serving/heap_trimmer.h"

#include <malloc.h>

#include <algorithm>

#include "sextant/base/resident_memory.h"

namespace sextant::serving {

namespace {

// Code, stacks, and what malloc keeps free.
int64_t UnusedBytes() {
  const struct mallinfo2 heap = ::mallinfo2();
  return ResidentBytes() - static_cast<int64_t>(heap.uordblks + heap.hblkhd);
}

}  // namespace

// Large blocks go back at once: left to itself, glibc soon takes blocks of up to 32 MB from the
// heap of each thread, where freed ones stay.
HeapTrimmer::HeapTrimmer() : unused_(UnusedBytes()) {
  constexpr int kLarge = 8 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLarge);
  ::mallopt(M_TRIM_THRESHOLD, 2 * kLarge);
}

bool HeapTrimmer::TrimIfGrown(Clock::time_point now) {
  if (now < next_) return false;
  next_ = now + kInterval;
  const int64_t unused = UnusedBytes();
  unused_ = std::min(unused_, unused);
  if (unused < unused_ + kGrowth) return false;
  Trim();
  return true;
}

void HeapTrimmer::Trim() {
  ::malloc_trim(0);
  unused_ = UnusedBytes();
}

}  // namespace sextant::serving
