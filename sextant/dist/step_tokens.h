// StepTokens: the steps of synchronous training (SyncReplicas), as the coordinator counts them.
//
// A step s averages R gradients. max(R, N) tokens of s are given out, N being the number of
// workers: with N > R some workers are backups whose gradients may come too late, with N < R
// workers take several tokens of one step. Who holds a token computes a gradient and contributes it
// to every part of the update (device/remote_task.h); a part that has R of them is ready. When all
// parts are ready the step is committed: they run, stage by stage, then the tokens of s + 1 are
// given out.
//
//   take token ──> contribute to each part ──> R-th: part ready ──> all ready: run ──> s + 1
//
// Invariants.
// - A token keeps its number when it is given out again, as its lease ended or its holder died.
//   Parts count a number once. So every part averages R different tokens, and the contribution of
//   a worker that died between two parts is completed, not doubled.
// - Tokens of s + 1 exist only when every part of s has run: who reads variables with a token of
//   s + 1 sees all of step s.
// - A worker gets a second token of a step only when one is left for every other worker that is
//   expected, for the time of a lease: with R = N each contributes once, as long as all live.
// Deterministic: R = N, and token k is for the worker of rank k alone, so that a shard can add in
// the order of ranks and a worker that comes back computes the same gradient again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sextant/device/remote_task.h"
#include "sextant/dist/membership.h"

namespace sextant::dist {

struct TokenOptions {
  int replicas_to_aggregate = 1;  // R
  int total_replicas = 1;         // N
  bool deterministic = false;
  // A lease is factor times the moving average of the time of a step, but at least this.
  SteadyDuration least_lease = std::chrono::seconds(10);
  double lease_factor = 3;
  std::optional<int64_t> max_steps = {};
};

// A part of the update, as Fragment::Sum says.
struct UpdatePart {
  int part = 0;
  int num_parts = 1;
  int stage = 0;
};

class StepTokens {
 public:
  StepTokens(const TokenOptions& options, int64_t step);

  int64_t step() const { return step_; }
  bool deterministic() const { return options_.deterministic; }
  // max_steps are committed: no token is given out any more.
  bool stopped() const { return options_.max_steps && step_ >= *options_.max_steps; }

  // A token that the worker of this rank may have; none: it waits. A worker that asks again while
  // it holds a token, because the answer was lost, gets that one. "expected" are the ranks of the
  // workers that are alive and have data, "awaited" of those that have not come yet.
  std::optional<StepToken> Take(int rank, const std::set<int>& expected,
                                const std::set<int>& awaited, SteadyTime now);
  // The worker has contributed the token to all parts, or was told that its step is over.
  void Used(int rank, const StepToken& token, SteadyTime now);
  // The worker is gone: its token goes back.
  void Return(int rank);
  // Tokens whose leases have ended go back. How many did.
  int Expire(SteadyTime now);

  // The part has R contributions to this step. May be sent again. Throws INVALID_ARGUMENT when the
  // others say that there are more or fewer parts.
  void PartReady(const UpdatePart& part, int64_t step);
  // Whether the part is to run now: all are ready, those of earlier stages have run.
  bool MayRun(int part, int64_t step);
  // The part has run. True when it is the last: the next step begins. May be sent again.
  bool PartRan(int part, int64_t step, SteadyTime now);
  // Commits begin as long as nobody holds them; one that has begun is completed.
  void Hold(bool hold) { held_ = hold; }
  // A commit has begun and is not complete.
  bool running() const { return running_; }

  int64_t expired() const { return expired_; }
  // Workers that hold a token, with what is left to take, for status.
  int waiting_tokens() const { return static_cast<int>(free_.size()); }

 private:
  struct Lease {
    int number = 0;
    SteadyTime begin, end;
  };

  void BeginStep();
  bool AllReady() const { return num_parts_ > 0 && static_cast<int>(ready_.size()) == num_parts_; }
  SteadyDuration LeaseTime() const;

  const TokenOptions options_;
  int64_t step_;
  std::set<int> free_;
  std::map<int, Lease> leases_;  // by rank
  std::set<int> had_;            // ranks that have had a token of this step
  int num_parts_ = 0;            // 0: no part is ready
  std::map<int, int> ready_;     // part → stage
  std::set<int> ran_;
  bool held_ = false, running_ = false;
  std::optional<SteadyTime> began_;          // this step: its first token was asked for
  std::optional<SteadyDuration> step_time_;  // moving average, from taken to used
  int64_t expired_ = 0;
};

}  // namespace sextant::dist
