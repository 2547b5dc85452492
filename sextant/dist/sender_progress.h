// Acknowledgements, cumulative and selective: what a sender says of its calls with every message:
// which have ended for it, because it has their answers or has given them up. What has ended once
// never begins again, so messages may come in any order, late or twice, and the next one makes up
// for one that was lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace sextant::dist {

class Stamp;

struct SenderProgress {
  uint64_t sender = 0;
  uint64_t done_below = 0;               // calls of smaller numbers have ended,
  std::vector<uint64_t> under_way = {};  // but for these, the smallest first

  bool Ended(uint64_t sequence) const {
    return sequence < done_below && !std::ranges::binary_search(under_way, sequence);
  }
};

// The call that a message is of is under way.
SenderProgress ProgressOf(const Stamp& stamp);

}  // namespace sextant::dist
