// StepTokens: the steps of synchronous training (SyncReplicas), as the coordinator counts them.
//
// A step s averages R gradients. max(R, N) tokens of s are given out, N being the number of
// workers: with N > R some workers are backups whose gradients may come too late, with N < R
// workers take several tokens of one step. Who holds a token computes a gradient and contributes it
// to every shard; a shard that has R of them is ready. When all shards are ready the step is
// committed: all of them apply the mean, then the tokens of s + 1 are given out.
//
//   take token ──> contribute to each shard ──> R-th: shard ready ──> all ready: apply ──> s + 1
//
// Invariants.
// - A token keeps its number when it is given out again, because its lease ended or its holder
// died.
//   Shards count a number once. So every shard averages R different tokens, and the contribution of
//   a worker that died between two shards is completed, not doubled.
// - Tokens of s + 1 exist only when every shard has applied s: who reads variables with a token of
//   s + 1 sees all of step s.
// Deterministic: R = N, and token k is for the worker of rank k alone, so that a shard can add in
// the order of ranks and a worker that comes back computes the same gradient again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sextant/dist/membership.h"

namespace sextant::dist {

struct TokenOptions {
  int replicas_to_aggregate = 1;  // R
  int total_replicas = 1;         // N
  int num_shards = 1;
  bool deterministic = false;
  // A lease is factor times the moving average of the time of a step, but at least this.
  SteadyDuration least_lease = std::chrono::seconds(10);
  double lease_factor = 3;
  std::optional<int64_t> max_steps = {};
};

struct StepToken {
  int64_t step = 0;
  int number = 0;  // in [0, max(R, N))
};

class StepTokens {
 public:
  StepTokens(const TokenOptions& options, int64_t step);

  int64_t step() const { return step_; }
  // max_steps are committed: no token is given out any more.
  bool stopped() const { return options_.max_steps && step_ >= *options_.max_steps; }

  // A token that the worker of this rank may have; none: it waits. A worker that asks again while
  // it holds a token, because the answer was lost, gets that one.
  std::optional<StepToken> Take(int rank, SteadyTime now);
  // The worker has contributed the token to all shards, or was told that its step is over.
  void Used(int rank, const StepToken& token, SteadyTime now);
  // The worker is gone: its token goes back.
  void Return(int rank);
  // Tokens whose leases have ended go back. How many did.
  int Expire(SteadyTime now);

  // The shard has R contributions to this step. True when it is the last: the step is to be applied
  // on all of them. May be sent again.
  bool ShardReady(int shard, int64_t step);
  // The shard has applied this step. True when it is the last: the next step begins. May be sent
  // again.
  bool ShardApplied(int shard, int64_t step, SteadyTime now);
  // All shards are ready and not all have applied the step.
  bool applying() const { return static_cast<int>(ready_.size()) == options_.num_shards; }

  int64_t expired() const { return expired_; }
  // Workers that hold a token, with what is left to take, for status.
  int waiting_tokens() const { return static_cast<int>(free_.size()); }

 private:
  struct Lease {
    int number = 0;
    SteadyTime begin, end;
  };

  void BeginStep();
  SteadyDuration LeaseTime() const;

  const TokenOptions options_;
  int64_t step_;
  std::set<int> free_;
  std::map<int, Lease> held_;  // by rank
  std::set<int> ready_, applied_;
  std::optional<SteadyDuration> step_time_;  // moving average, from taken to used
  int64_t expired_ = 0;
};

}  // namespace sextant::dist
