// FragmentHost: the side of a task that runs the fragments of others. Each is an ordinary Plan on
// the task's own devices and variables. State that sessions do not share (session_state_nodes.h) is
// kept apart for each of them.
//
// Thread-safe: calls run at the same time.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/export.h"
#include "sextant/device/remote_task.h"
#include "sextant/runtime/kept_tensors.h"
#include "sextant/runtime/session.h"
#include "sextant/runtime/session_environment.h"

namespace sextant {

class SEXTANT_API FragmentHost {
 public:
  using Clock = std::chrono::steady_clock;

  // The environment outlives the host.
  FragmentHost(const SessionEnvironment& environment, const SessionOptions& options);
  ~FragmentHost();

  bool Has(uint64_t fingerprint) const;  // asking is a use
  // Keeps the fragment. When there are too many or their graphs are too large, the least recently
  // used go, but only what DropUnused may drop after a minute. Throws INVALID_ARGUMENT, naming the
  // node, when its graph is malformed.
  void Register(std::shared_ptr<const Fragment> fragment);
  // Drops fragments, with their Plans, that nobody has asked for since then: their callers register
  // them again. Not those that a call runs now, nor those of summed calls, which run when all
  // contributions have come.
  void DropUnused(Clock::time_point since);
  // Throws NOT_FOUND when it has not been registered.
  std::shared_ptr<const Fragment> Find(uint64_t fingerprint) const;

  // Runs a fragment: "inputs" in the order of its feeds, "kept_inputs" in that of its kept inputs.
  // Gives the fetches; what the fragment keeps stays until EndRun(run). Throws ABORTED when the
  // session has been ended.
  std::vector<Tensor> Run(uint64_t fingerprint, RunId run, std::vector<Tensor> inputs,
                          std::vector<Tensor> kept_inputs, CancellationToken& cancellation);

  // Runs the fragment of a summed call on the contributions to a step, in the order of tokens: each
  // has all inputs, those of its feeds, then those of its kept inputs. REQUIRES: as many as
  // Fragment::Sum says.
  void RunSummed(uint64_t fingerprint, const std::vector<std::vector<Tensor>>& contributions,
                 CancellationToken& cancellation);

  // Tensors that a fragment of the run has kept, here or on a snapshot. Throws NOT_FOUND when it
  // has not been run.
  std::vector<Tensor> Kept(uint64_t run, uint64_t maker, std::span<const int32_t> positions) const;
  void EndRun(uint64_t run) { kept_->EndRun(run); }
  // Drops what is kept for a session alone.
  void EndSession(uint64_t session);

  // A host on the variables as they are now, without fragments. Buffers are shared: who changes a
  // variable copies it first. What its fragments keep is kept here.
  std::shared_ptr<FragmentHost> Snapshot() const;

  size_t num_fragments() const;
  int num_plans() const;  // of all fragments
  size_t num_kept_runs() const { return kept_->num_runs(); }
  size_t num_sessions() const;  // of which it keeps state

 private:
  struct Entry;
  struct OfSession;
  struct Used {
    std::shared_ptr<Entry> entry;
    Clock::time_point last_use;
  };
  using Entries = std::map<uint64_t, Used>;  // by fingerprint
  // The least recently used of those that DropUnused may drop, or the end.
  Entries::iterator OldestUnused(Clock::time_point since);
  std::shared_ptr<Entry> FindEntry(uint64_t fingerprint) const;
  // The same, or another for the session alone when it keeps state.
  std::shared_ptr<Entry> EntryFor(uint64_t fingerprint, uint64_t session);

  std::unique_ptr<ResourceManager> own_resources_;  // of a snapshot
  SessionEnvironment environment_;
  const SessionOptions options_;
  std::shared_ptr<KeptTensors> kept_;  // never null
  mutable std::mutex mutex_;
  mutable Entries entries_;
  std::map<uint64_t, std::shared_ptr<OfSession>> sessions_;
  std::deque<uint64_t> ended_;  // the latest sessions that were dropped
};

}  // namespace sextant
