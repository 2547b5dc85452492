// HookedRun: runs the steps of a session with hooks around them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/runtime/session.h"
#include "sextant/train/hooks.h"

namespace sextant {
class VariableResource;
}

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
  // Whether a hook has asked for it.
  bool stop_requested() const { return stop_; }
  // As it is now, read from the variable itself: no Run. Throws FAILED_PRECONDITION when the graph
  // has none.
  int64_t global_step() const;
  const std::vector<HookRef>& hooks() const { return hooks_; }

 private:
  Session& session_;
  const std::vector<HookRef> hooks_;
  CancellationToken* const cancellation_;
  const std::shared_ptr<VariableResource> global_step_;
  bool stop_ = false;
};

}  // namespace sextant::train

#pragma GCC visibility pop
