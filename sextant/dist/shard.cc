#include "sextant/dist/shard.h"

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kLongestHold(10);

}  // namespace

Shard::Pass Shard::Enter(uint64_t epoch, uint64_t member) {
  std::unique_lock lock(mutex_);
  while (held()) changed_.wait_until(lock, hold_end_);
  if (epoch != 0 || epoch_.state().phase != ShardPhase::kEmpty) epoch_.Check(epoch, member);
  ++running_;
  return Pass(this);
}

void Shard::Check(uint64_t epoch, uint64_t member) const {
  const std::lock_guard lock(mutex_);
  epoch_.Check(epoch, member);
}

void Shard::Exit() {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) changed_.notify_all();
}

ShardState Shard::state() const {
  const std::lock_guard lock(mutex_);
  return epoch_.state();
}

void Shard::Begin(uint64_t epoch, uint64_t chief, ModelSignature signature) {
  std::unique_lock lock(mutex_);
  const bool is_new = epoch != epoch_.state().epoch;
  epoch_.Begin(epoch, chief, std::move(signature));
  if (!is_new) return;
  hold_ = 0;
  cuts_.clear();
  changed_.notify_all();
  changed_.wait(lock, [this] { return running_ == 0; });
}

void Shard::Commit(uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  epoch_.Commit(epoch);
}

void Shard::RequireReady(uint64_t epoch) const {
  const ShardState& state = epoch_.state();
  if (state.phase == ShardPhase::kReady && state.epoch == epoch) return;
  throw MakeError<Code::kAborted>("there is no whole model of epoch {} here", epoch);
}

void Shard::Hold(uint64_t epoch, uint64_t cut) {
  std::unique_lock lock(mutex_);
  RequireReady(epoch);
  if (cuts_.contains(cut)) return;  // sent twice; it comes late
  if (hold_ != cut) {               // one that has ended is not begun again: calls have run since
    hold_ = cut;
    hold_end_ = Clock::now() + kLongestHold;
  }
  if (!changed_.wait_until(lock, hold_end_, [&] { return running_ == 0 || hold_ != cut; })) {
    hold_ = 0;
    changed_.notify_all();
    throw MakeError<Code::kDeadlineExceeded>("a call runs for longer than {} s",
                                             kLongestHold.count());
  }
}

void Shard::Take(uint64_t epoch, uint64_t cut) {
  const std::lock_guard lock(mutex_);
  RequireReady(epoch);
  if (cuts_.contains(cut)) return;
  if (hold_ != cut || !held()) {
    throw MakeError<Code::kAborted>("the servers were held for too long; no snapshot is taken");
  }
  cuts_.clear();  // there is one chief, and it saves one checkpoint at a time
  cuts_[cut] = snapshot_();
  hold_ = 0;
  changed_.notify_all();
}

void Shard::Drop(uint64_t cut) {
  const std::lock_guard lock(mutex_);
  cuts_.erase(cut);
  if (hold_ != cut) return;
  hold_ = 0;
  changed_.notify_all();
}

std::shared_ptr<FragmentHost> Shard::FindCut(uint64_t cut) const {
  const std::lock_guard lock(mutex_);
  const auto found = cuts_.find(cut);
  if (found == cuts_.end()) throw MakeError<Code::kAborted>("the snapshot is no more");
  return found->second;
}

}  // namespace sextant::dist
