#include "sextant/formats/checkpoint_retention.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {

CheckpointRetention::CheckpointRetention(const Options& options, double now)
    : options_(options), next_keep_time_(now + options.keep_every_n_hours * 3600) {
  if (options.max_to_keep < 0 || !(options.keep_every_n_hours > 0)) {
    throw InvalidArgument("cannot keep {} checkpoints and one every {} hours", options.max_to_keep,
                          options.keep_every_n_hours);
  }
}

void CheckpointRetention::Recover(std::vector<Checkpoint> existing) {
  kept_.assign(std::make_move_iterator(existing.begin()), std::make_move_iterator(existing.end()));
}

void CheckpointRetention::Saved(const std::string& prefix, double now) {
  if (options_.max_to_keep == 0) kept_.clear();
  std::erase_if(kept_, [&](const Checkpoint& c) { return c.prefix == prefix; });
  std::erase_if(queue_, [&](const Checkpoint& c) { return c.prefix == prefix; });
  if (held_ && held_->prefix == prefix) held_.reset();
  kept_.push_back({prefix, now});
  if (options_.max_to_keep == 0) return;
  while (kept_.size() > static_cast<size_t>(options_.max_to_keep)) {
    queue_.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
  const auto best = std::find_if(queue_.begin(), queue_.end(),
                                 [&](const Checkpoint& c) { return c.prefix == best_; });
  if (best == queue_.end()) return;
  held_ = std::move(*best);
  queue_.erase(best);
}

void CheckpointRetention::SetBest(std::string prefix) {
  best_ = std::move(prefix);
  if (!held_ || held_->prefix == best_) return;
  queue_.push_front(std::move(*held_));
  held_.reset();
}

std::vector<std::string> CheckpointRetention::kept() const {
  std::vector<std::string> prefixes;
  if (held_) prefixes.push_back(held_->prefix);
  for (const Checkpoint& checkpoint : kept_) prefixes.push_back(checkpoint.prefix);
  return prefixes;
}

std::optional<std::string> CheckpointRetention::NextToDelete() {
  while (!queue_.empty()) {
    const Checkpoint oldest = std::move(queue_.front());
    queue_.pop_front();
    if (oldest.time <= next_keep_time_) return oldest.prefix;
    next_keep_time_ += options_.keep_every_n_hours * 3600;
  }
  return std::nullopt;
}

}  // namespace sextant
