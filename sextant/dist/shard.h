// Shard: what a parameter server holds of a training: the epoch of its variables, and the gate that
// every call passes which touches them.
//
//   const Shard::Pass pass = shard.Enter(stamp);   // throws ABORTED for a call of another epoch
//   … runs the call …
//
// Two things close the gate. An epoch that begins: calls of the one before are refused, those that
// run are waited for. A cut: new calls wait while all servers of the training hold (Hold), then
// every server takes references to its variables (Take) and opens. Variables share their buffers
// with readers and writers copy (device/variable.h), so a cut costs no copy of what does not
// change. Calls with the stamp of a cut run on it, beside all others, until it is dropped.
//
// A call that waits for other calls must not hold a pass meanwhile: they may wait for the gate. A
// hold ends by itself after ten seconds, for its chief may have died.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "sextant/dist/shard_epoch.h"
#include "sextant/dist/staleness.h"
#include "sextant/runtime/fragment_host.h"

namespace sextant::dist {

// Thread-safe.
class Shard {
 public:
  using Snapshot = std::function<std::shared_ptr<FragmentHost>()>;
  // The variables as they are now.
  explicit Shard(Snapshot snapshot, const StalenessLimit& limit = {})
      : snapshot_(std::move(snapshot)), staleness_(limit) {}

  class Pass {
   public:
    explicit Pass(Shard* shard) : shard_(shard) {}
    Pass(Pass&& other) noexcept : shard_(std::exchange(other.shard_, nullptr)) {}
    ~Pass() {
      if (shard_ != nullptr) shard_->Exit();
    }

   private:
    Shard* shard_;
  };
  // Waits while the gate is held. `member` is the incarnation of the task that calls. Calls of no
  // epoch (0) pass as long as no training has begun here.
  Pass Enter(uint64_t epoch, uint64_t member);
  // Only throws what Enter would.
  void Check(uint64_t epoch, uint64_t member) const;

  Staleness& staleness() { return staleness_; }

  ShardState state() const;
  // As of ShardEpoch. Begin returns when no call of another epoch runs.
  void Begin(uint64_t epoch, uint64_t chief, ModelSignature signature);
  void Commit(uint64_t epoch);

  // Of the chief of the epoch; all throw ABORTED for another epoch. Hold returns when no call runs.
  void Hold(uint64_t epoch, uint64_t cut);
  void Take(uint64_t epoch, uint64_t cut);
  void Drop(uint64_t cut);
  // Throws ABORTED when there is no such cut (any more).
  std::shared_ptr<FragmentHost> FindCut(uint64_t cut) const;

 private:
  using Clock = std::chrono::steady_clock;

  void Exit();
  bool held() const { return hold_ != 0 && Clock::now() < hold_end_; }
  void RequireReady(uint64_t epoch) const;

  const Snapshot snapshot_;
  Staleness staleness_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  ShardEpoch epoch_;
  int running_ = 0;
  uint64_t hold_ = 0;  // the cut that it is held for
  Clock::time_point hold_end_ = {};
  std::map<uint64_t, std::shared_ptr<FragmentHost>> cuts_;
};

}  // namespace sextant::dist
