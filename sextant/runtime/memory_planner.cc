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
