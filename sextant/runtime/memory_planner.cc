// Best-fit allocation in a simulated arena: a linear sweep over the values by their first step.
// Before a value is placed, the blocks of values whose last step has passed are freed and merged
// with free neighbours; the value takes the smallest free block that is large enough, and what is
// left of the block stays free. When none fits, the arena grows, from the free block at its end if
// there is one.
//
//   value  bytes  steps        arena
//   a      128    0 to 1       a at 0
//   b       64    1 to 3       b at 128
//   c       64    2 to 4       a is free: c at 0, 64 to 128 stay free
//   d      128    3 to 4       no block of 128: d at 192
//
// Invariant: free blocks never overlap live ones nor touch each other, so two values whose steps
// overlap never share a byte. Blocks are multiples of 64 bytes, a cache line. Best fit by the sweep
// is not optimal (the problem is NP-hard) but within a few per cent for graphs of networks: their
// large values live nested, as a stack.
//
// Pisarchyk and Lee, Efficient memory management for deep neural net inference, 2020, compare the
// heuristics.
#include "sextant/runtime/memory_planner.h"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <utility>

namespace sextant {
namespace {

// Free blocks of an arena that grows at its end.
class FreeBlocks {
 public:
  int64_t Take(int64_t bytes) {
    auto it = by_size_.lower_bound({bytes, 0});
    if (it == by_size_.end()) {
      // Grow; a free block at the end is part of the new one.
      int64_t offset = size_;
      if (!by_offset_.empty()) {
        const auto [last_offset, last_size] = *by_offset_.rbegin();
        if (last_offset + last_size == size_) {
          offset = last_offset;
          Erase(last_offset, last_size);
        }
      }
      size_ = offset + bytes;
      return offset;
    }
    const auto [size, offset] = *it;
    Erase(offset, size);
    if (size > bytes) Insert(offset + bytes, size - bytes);
    return offset;
  }

  void Give(int64_t offset, int64_t bytes) {
    auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.end() && offset + bytes == next->first) {
      bytes += next->second;
      Erase(next->first, next->second);
    }
    auto previous = by_offset_.lower_bound(offset);
    if (previous != by_offset_.begin()) {
      --previous;
      if (previous->first + previous->second == offset) {
        const auto [o, b] = *previous;
        Erase(o, b);
        offset = o;
        bytes += b;
      }
    }
    Insert(offset, bytes);
  }

  int64_t size() const { return size_; }

 private:
  void Insert(int64_t offset, int64_t bytes) {
    by_offset_.emplace(offset, bytes);
    by_size_.emplace(bytes, offset);
  }
  void Erase(int64_t offset, int64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t size_ = 0;
};

}  // namespace

int64_t PlanArena(std::vector<Lifetime>& values) {
  FreeBlocks free_blocks;
  using Ending = std::pair<int32_t, size_t>;  // last step, index
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> alive;
  const auto rounded = [](int64_t bytes) { return (std::max<int64_t>(bytes, 1) + 63) / 64 * 64; };
  for (size_t i = 0; i < values.size(); ++i) {
    while (!alive.empty() && alive.top().first < values[i].first) {
      const Lifetime& ended = values[alive.top().second];
      free_blocks.Give(ended.offset, rounded(ended.bytes));
      alive.pop();
    }
    values[i].offset = free_blocks.Take(rounded(values[i].bytes));
    alive.emplace(values[i].last, i);
  }
  return free_blocks.size();
}

}  // namespace sextant
