// MonitoredSession: a Session that initialises or restores itself, and calls hooks around every
// step.
//
//   MonitoredSession session(graph, {.checkpoint_dir = "runs/a", .hooks = {StopAtStep(1000)}});
//   while (!session.ShouldStop()) session.Run(train_op);
//   session.Close();
//
// At its start: hooks may add nodes (Begin), the graph gets a Saver and an init op if it has none;
// variables are restored from the newest checkpoint of the directory or else initialised, local
// variables and tables are always; positions of data and random numbers are restored too
// (run_state.h).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/runtime/session.h"
#include "sextant/train/hook.h"
#include "sextant/train/run_state.h"
#include "sextant/train/saver.h"

namespace sextant::train {

struct MonitoredSessionOptions {
  SessionOptions session = {};
  std::string checkpoint_dir = {};   // "": always initialise
  std::string checkpoint_path = {};  // this one instead of the newest of the directory
  std::vector<std::shared_ptr<Hook>> hooks = {};
  SaverOptions saver = {};
  // Called after initialising or restoring, e.g. to warm-start.
  std::function<void(Session&)> after_init = {};
};

// Used by one thread at a time.
class MonitoredSession {
 public:
  MonitoredSession(Graph& graph, MonitoredSessionOptions options);
  // Ends the session without calling the hooks' End: the loop was left by an error.
  ~MonitoredSession();

  // One step: the caller's fetches and those of the hooks in one Run. Throws FAILED_PRECONDITION
  // after a stop.
  std::vector<Tensor> Run(const std::vector<Output>& fetches, const FeedMap& feeds = {},
                          const std::vector<Operation>& targets = {});
  void Run(Operation target) { Run({}, {}, {target}); }

  bool ShouldStop() const { return stop_; }
  void RequestStop() { stop_ = true; }
  // Calls End of all hooks. Further Runs are refused.
  void Close();

  Session& session() { return *session_; }
  Saver& saver() { return *saver_; }
  // Whether variables came from a checkpoint, and which.
  const std::string& restored_from() const { return restored_from_; }
  // Saves the variables with all that resuming needs; the name of the checkpoint.
  std::string Save(const std::string& path, int64_t step);

 private:
  void Initialise();

  Graph& graph_;
  const MonitoredSessionOptions options_;
  std::unique_ptr<RunState> run_state_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Session> session_;
  Operation init_, local_init_;
  std::string restored_from_;
  bool stop_ = false, closed_ = false;
};

}  // namespace sextant::train
