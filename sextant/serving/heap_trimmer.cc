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

HeapTrimmer::HeapTrimmer() : unused_(UnusedBytes()) {}

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
