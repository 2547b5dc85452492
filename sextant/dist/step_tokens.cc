#include "sextant/dist/step_tokens.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

constexpr double kNewest = 0.1;  // weight of the newest time in the moving average

void CheckTokenOptions(const TokenOptions& options) {
  if (options.replicas_to_aggregate < 1 || options.total_replicas < 1) {
    throw InvalidArgument(
        "replicas_to_aggregate ({}) and total_num_replicas ({}) must be at least 1",
        options.replicas_to_aggregate, options.total_replicas);
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
  leases_.clear();
  had_.clear();
  num_parts_ = 0;
  ready_.clear();
  ran_.clear();
  running_ = false;
  began_.reset();
  if (stopped()) return;
  const int count = std::max(options_.replicas_to_aggregate, options_.total_replicas);
  for (int number = 0; number < count; ++number) free_.insert(number);
}

SteadyDuration StepTokens::LeaseTime() const {
  if (!step_time_) return options_.least_lease;
  return std::max(options_.least_lease,
                  std::chrono::duration_cast<SteadyDuration>(options_.lease_factor * *step_time_));
}

std::optional<StepToken> StepTokens::Take(int rank, const std::set<int>& expected,
                                          const std::set<int>& awaited, SteadyTime now) {
  if (!began_) began_ = now;
  if (const auto held = leases_.find(rank); held != leases_.end()) {
    held->second.end = now + LeaseTime();
    return StepToken{step_, held->second.number};
  }
  if (free_.empty() || AllReady()) return std::nullopt;
  const int number = options_.deterministic ? rank : *free_.begin();
  if (!free_.contains(number)) return std::nullopt;
  if (had_.contains(rank)) {
    std::set<int> others = awaited;
    if (now < *began_ + LeaseTime()) others.insert(expected.begin(), expected.end());
    others.erase(rank);
    std::erase_if(others, [this](int other) { return had_.contains(other); });
    if (free_.size() <= others.size()) return std::nullopt;
  }
  free_.erase(number);
  had_.insert(rank);
  leases_[rank] = {number, now, now + LeaseTime()};
  return StepToken{step_, number};
}

void StepTokens::Used(int rank, const StepToken& token, SteadyTime now) {
  if (token.step != step_) return;
  free_.erase(token.number);  // its lease has ended meanwhile: nobody need have it again
  const auto held = leases_.find(rank);
  if (held == leases_.end() || held->second.number != token.number) return;
  const SteadyDuration time = now - held->second.begin;
  step_time_ =
      step_time_
          ? std::chrono::duration_cast<SteadyDuration>((1 - kNewest) * *step_time_ + kNewest * time)
          : time;
  leases_.erase(held);
}

void StepTokens::Return(int rank) {
  const auto held = leases_.find(rank);
  if (held == leases_.end()) return;
  free_.insert(held->second.number);
  leases_.erase(held);
}

int StepTokens::Expire(SteadyTime now) {
  std::vector<int> late;
  for (const auto& [rank, lease] : leases_) {
    if (lease.end <= now) late.push_back(rank);
  }
  for (const int rank : late) Return(rank);
  expired_ += static_cast<int64_t>(late.size());
  return static_cast<int>(late.size());
}

void StepTokens::PartReady(const UpdatePart& part, int64_t step) {
  if (step != step_ || stopped()) return;
  if (part.num_parts < 1 || part.part < 0 || part.part >= part.num_parts ||
      (num_parts_ > 0 && num_parts_ != part.num_parts)) {
    throw InvalidArgument(
        "the update of step {} has {} parts for one worker and {} for another: all workers must "
        "build the same graph",
        step, part.num_parts, num_parts_);
  }
  num_parts_ = part.num_parts;
  ready_[part.part] = part.stage;
}

bool StepTokens::MayRun(int part, int64_t step) {
  if (step != step_ || !AllReady() || (held_ && !running_)) return false;
  running_ = true;
  const int stage = ready_.at(part);
  return std::all_of(ready_.begin(), ready_.end(), [&](const auto& other) {
    return other.second >= stage || ran_.contains(other.first);
  });
}

bool StepTokens::PartRan(int part, int64_t step, SteadyTime) {
  if (step != step_ || !running_) return false;
  ran_.insert(part);
  if (static_cast<int>(ran_.size()) < num_parts_) return false;
  ++step_;
  BeginStep();
  return true;
}

}  // namespace sextant::dist
