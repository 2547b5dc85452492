#include "sextant/dist/staleness.h"

#include <algorithm>
#include <numeric>

namespace sextant::dist {

double Staleness::Called(uint64_t run, bool updates) {
  const std::lock_guard lock(mutex_);
  if (!updates) {
    if (!read_at_.emplace(run, version_).second) return 1;
    runs_by_age_.emplace(calls_++, run);
    if (runs_by_age_.size() <= kMostRuns) return 1;
    read_at_.erase(runs_by_age_.begin()->second);
    runs_by_age_.erase(runs_by_age_.begin());
    return 1;
  }
  const auto read = read_at_.find(run);
  if (read == read_at_.end()) return 1;  // e.g. it only counts the step
  const int64_t stale = version_ - read->second;
  const bool too_stale = limit_.most && stale > *limit_.most;
  if (too_stale && limit_.beyond == StaleUpdates::kDrop) {
    read_at_.erase(read);
    ++dropped_;
    return 0;
  }
  ++version_;
  counts_[static_cast<size_t>(std::min<int64_t>(stale, counts_.size() - 1))] += 1;
  sum_ += stale;
  read_at_.erase(read);
  if (!too_stale || limit_.beyond != StaleUpdates::kScale) return 1;
  return 1 / (1 + static_cast<double>(stale));
}

int64_t Staleness::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

int64_t Staleness::updates() const {
  const std::lock_guard lock(mutex_);
  return std::accumulate(counts_.begin(), counts_.end(), int64_t{0});
}

double Staleness::Mean() const {
  const int64_t count = updates();
  const std::lock_guard lock(mutex_);
  return count == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count);
}

int64_t Staleness::P99() const {
  const int64_t count = updates();
  const std::lock_guard lock(mutex_);
  int64_t below = 0;
  for (size_t stale = 0; stale < counts_.size(); ++stale) {
    below += counts_[stale];
    if (below * 100 >= count * 99) return static_cast<int64_t>(stale);
  }
  return static_cast<int64_t>(counts_.size()) - 1;
}

}  // namespace sextant::dist
