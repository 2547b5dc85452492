// RunState: the state that is checkpointed beside variables, so that a run resumes exactly: the
// positions of data iterators and of random streams, the state of hooks. It is stored as one string
// variable, "sextant/run_state", by the same Saver as all others; TensorFlow, whose graphs have no
// such variable, ignores it in our checkpoints. A session that another process runs
// (Session::remote) has its iterators and random streams there: then the state is that of the hooks
// alone.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/block_question.h"
#include "sextant/train/hook.h"

#pragma GCC visibility push(default)

namespace sextant::train {

class SEXTANT_API RunState {
 public:
  static constexpr const char* kVariable = "sextant/run_state";  // its name

  // Adds the variable to the current graph. Call before a Saver is made for it.
  RunState();

  using Hooks = std::vector<std::shared_ptr<Hook>>;
  // Puts the present state into the variable: right before a save. REQUIRES: no Run is under way.
  void Capture(Session& session, const Hooks& hooks) const;
  // Applies what a restored variable holds; does nothing when it is empty. Throws DATA_LOSS when it
  // is no such state.
  void Apply(Session& session, const Hooks& hooks) const;

  // Of a chief: a table by rank, with the state of this process as rank 0. A process that trains
  // alone goes on from rank 0 of it; a cluster goes on from a state of one process as its rank 0.
  void CaptureCluster(Session& session, const Hooks& hooks, ClusterRunState others) const;
  // The table that a restored variable holds, without rank 0, which Apply applies.
  ClusterRunState OthersIn(Session& session) const;

  // Of the other tasks that train: their rows of the table.
  static std::string StateOf(Session& session, const Hooks& hooks);
  static void ApplyState(const std::string& state, Session& session, const Hooks& hooks);

 private:
  Variable variable_;
  Output given_;
  Operation store_;
};

}  // namespace sextant::train

#pragma GCC visibility pop
