#include "sextant/dist/step_tokens.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

constexpr double kNewest = 0.1;  // weight of the newest time in the moving average

void CheckTokenOptions(const TokenOptions& options) {
  if (options.replicas_to_aggregate < 1 || options.total_replicas < 1 || options.num_shards < 1) {
    throw InvalidArgument(
        "replicas_to_aggregate ({}), total_num_replicas ({}) and the number of parameter servers "
        "({}) must be at least 1",
        options.replicas_to_aggregate, options.total_replicas, options.num_shards);
  }
  if (options.deterministic && options.replicas_to_aggregate != options.total_replicas) {
    throw InvalidArgument(
        "deterministic synchronous training needs replicas_to_aggregate ({}) to be "
        "total_num_replicas ({})",
        options.replicas_to_aggregate, options.total_replicas);
  }
}

}  // namespace

StepTokens::StepTokens(const TokenOptions& options, int64_t step) : options_(options), step_(step) {
  CheckTokenOptions(options);
  BeginStep();
}

void StepTokens::BeginStep() {
  free_.clear();
  held_.clear();
  ready_.clear();
  applied_.clear();
  if (stopped()) return;
  const int count = std::max(options_.replicas_to_aggregate, options_.total_replicas);
  for (int number = 0; number < count; ++number) free_.insert(number);
}

SteadyDuration StepTokens::LeaseTime() const {
  if (!step_time_) return options_.least_lease;
  return std::max(options_.least_lease,
                  std::chrono::duration_cast<SteadyDuration>(options_.lease_factor * *step_time_));
}

std::optional<StepToken> StepTokens::Take(int rank, SteadyTime now) {
  if (const auto held = held_.find(rank); held != held_.end()) {
    held->second.end = now + LeaseTime();
    return StepToken{step_, held->second.number};
  }
  if (free_.empty() || applying()) return std::nullopt;
  const int number = options_.deterministic ? rank : *free_.begin();
  if (!free_.erase(number)) return std::nullopt;
  held_[rank] = {number, now, now + LeaseTime()};
  return StepToken{step_, number};
}

void StepTokens::Used(int rank, const StepToken& token, SteadyTime now) {
  const auto held = held_.find(rank);
  if (token.step != step_ || held == held_.end() || held->second.number != token.number) return;
  const SteadyDuration time = now - held->second.begin;
  step_time_ =
      step_time_
          ? std::chrono::duration_cast<SteadyDuration>((1 - kNewest) * *step_time_ + kNewest * time)
          : time;
  held_.erase(held);
}

void StepTokens::Return(int rank) {
  const auto held = held_.find(rank);
  if (held == held_.end()) return;
  free_.insert(held->second.number);
  held_.erase(held);
}

int StepTokens::Expire(SteadyTime now) {
  std::vector<int> late;
  for (const auto& [rank, lease] : held_) {
    if (lease.end <= now) late.push_back(rank);
  }
  for (const int rank : late) Return(rank);
  expired_ += static_cast<int64_t>(late.size());
  return static_cast<int>(late.size());
}

bool StepTokens::ShardReady(int shard, int64_t step) {
  if (step != step_ || stopped()) return false;
  return ready_.insert(shard).second && applying();
}

bool StepTokens::ShardApplied(int shard, int64_t step, SteadyTime) {
  if (step != step_ || !applying()) return false;
  applied_.insert(shard);
  if (static_cast<int>(applied_.size()) < options_.num_shards) return false;
  ++step_;
  BeginStep();
  return true;
}

}  // namespace sextant::dist
