#include "sextant/runtime/plan_cache.h"

namespace sextant {

std::unique_ptr<Frame> PreparedPlan::Take(Allocator& allocator) {
  std::unique_ptr<Frame> frame;
  std::optional<ScheduleTrial::Finding> finding;
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      frame = std::move(idle_.back());
      idle_.pop_back();
    }
    if (finding_ && (!frame || frame->trial->finding() == nullptr)) finding = finding_;
  }
  if (!frame) frame = plan_->NewFrame(allocator);
  if (finding) frame->trial->Adopt(*finding);
  return frame;
}

void PreparedPlan::Give(std::unique_ptr<Frame> frame) {
  std::lock_guard lock(mutex_);
  const ScheduleTrial::Finding* found = frame->trial ? frame->trial->finding() : nullptr;
  if (found != nullptr && (!finding_ || finding_->threads != found->threads)) finding_ = *found;
  idle_.push_back(std::move(frame));
}

std::shared_ptr<PreparedPlan> PreparedRun::LastRest(std::span<const Tensor> data,
                                                    uint64_t predicates) {
  const std::lock_guard lock(mutex_);
  if (!rest_ || predicates != rest_predicates_) return nullptr;
  for (size_t i = 0; i < data.size(); ++i) {
    if (data[i].dtype() != rest_types_[i] || !(data[i].shape() == rest_shapes_[i])) return nullptr;
  }
  return rest_;
}

void PreparedRun::KeepRest(std::span<const Tensor> data, uint64_t predicates,
                           std::shared_ptr<PreparedPlan> rest) {
  const std::lock_guard lock(mutex_);
  rest_ = std::move(rest);
  rest_predicates_ = predicates;
  rest_types_.clear();
  rest_shapes_.clear();
  for (const Tensor& tensor : data) {
    rest_types_.push_back(tensor.dtype());
    rest_shapes_.push_back(tensor.shape());
  }
}

size_t PlanCache::KeyHash::operator()(const Key* key) const {
  uint64_t h = 0x9e3779b97f4a7c15u;
  for (const uint64_t word : *key) {
    h = (h ^ word) * 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

std::shared_ptr<PreparedRun> PlanCache::Find(const Key& key) {
  std::lock_guard lock(mutex_);
  const auto it = by_key_.find(&key);
  if (it == by_key_.end()) return nullptr;
  if (it->second != entries_.begin()) entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->run;
}

std::shared_ptr<PreparedRun> PlanCache::Add(const Key& key, std::shared_ptr<PreparedRun> run) {
  std::lock_guard lock(mutex_);
  if (const auto it = by_key_.find(&key); it != by_key_.end()) return it->second->run;
  const int64_t bytes = run->plan().plan().bytes();
  entries_.push_front({key, std::move(run), bytes});
  by_key_.emplace(&entries_.front().key, entries_.begin());
  bytes_ += bytes;
  while (bytes_ > max_bytes_ && entries_.size() > 1) {
    by_key_.erase(&entries_.back().key);
    bytes_ -= entries_.back().bytes;
    entries_.pop_back();
  }
  return entries_.front().run;
}

int PlanCache::size() const {
  std::lock_guard lock(mutex_);
  return static_cast<int>(entries_.size());
}

}  // namespace sextant
