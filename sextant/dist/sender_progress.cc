#include "sextant/dist/sender_progress.h"

#include <algorithm>

#include "sextant/proto/cluster.pb.h"

namespace sextant::dist {

SenderProgress ProgressOf(const Stamp& stamp) {
  SenderProgress progress{
      stamp.sender(), stamp.done_below(), {stamp.under_way().begin(), stamp.under_way().end()}};
  if (stamp.sequence() != 0) {
    progress.under_way.push_back(stamp.sequence());
    progress.done_below = std::max(progress.done_below, stamp.sequence() + 1);
  }
  std::ranges::sort(progress.under_way);
  return progress;
}

}  // namespace sextant::dist
