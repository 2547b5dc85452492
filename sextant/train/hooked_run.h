// HookedRun: runs the steps of a session with hooks around them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/runtime/session.h"
#include "sextant/train/hooks.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// Used by one thread at a time. Must not outlive the session.
class SEXTANT_API HookedRun {
 public:
  // Cancelling the token, if there is one, ends a Run in the middle: for loops that leave nothing
  // behind, e.g. evaluations.
  HookedRun(Session& session, std::vector<HookRef> hooks, CancellationToken* cancellation = {});

  // One step: the caller's fetches and those of the hooks in one Session::Run.
  std::vector<Tensor> Run(const std::vector<Output>& fetches, const FeedMap& feeds = {},
                          const std::vector<Operation>& targets = {});
  // Asked about errors of the Run of a step: true when it is to be run again, with the same data
  // unless that is forgotten.
  void set_recovery(std::function<bool(const Error&)> recover) { recover_ = std::move(recover); }
  void ForgetData() { sources_.clear(); }
  // Synchronous training: "begin" gives the token that a step contributes by, "end" is called
  // behind it and gives the global step.
  void set_tokens(std::function<RunToken*()> begin, std::function<int64_t()> end) {
    begin_ = std::move(begin);
    end_ = std::move(end);
  }
  // Whether a hook has asked for it.
  bool stop_requested() const { return stop_; }
  // As the last Run left it: each Run gives it along. Before the first one, and once it has been
  // forgotten, by a Run of its own. Throws FAILED_PRECONDITION when the graph has none.
  int64_t global_step() const;
  void ForgetGlobalStep() { last_step_.reset(); }
  const std::vector<HookRef>& hooks() const { return hooks_; }

 private:
  Session& session_;
  const std::vector<HookRef> hooks_;
  CancellationToken* const cancellation_;
  Output global_step_;  // reads it; empty when the graph has none
  Output step_after_;   // reads it behind all else of a Run
  std::optional<int64_t> last_step_;
  std::function<bool(const Error&)> recover_;
  std::vector<Tensor> sources_;  // what the data sources gave to a step that failed
  std::function<RunToken*()> begin_;
  std::function<int64_t()> end_;
  bool stop_ = false;
};

}  // namespace sextant::train

#pragma GCC visibility pop
