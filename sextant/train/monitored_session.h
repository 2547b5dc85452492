// MonitoredSession: a Session that initialises or restores itself, and calls hooks around every
// step.
//
//   MonitoredSession session(graph, {.checkpoint_dir = "runs/a", .hooks = {StopAtStep(1000)}});
//   while (!session.ShouldStop()) session.Run(train_op);
//   session.Close();
//
// With an interval of checkpoints it saves itself: at the start of a new training, whenever the
// interval has passed, and at the end. That comes after all hooks of a step, so that what they
// wrote for it is there when the checkpoint is.
//
// In a cluster every worker has one, with the target of its server; see is_chief. A worker that is
// not the chief runs the initialisers of its own local variables and tables.
//
// At its start: hooks may add nodes (Begin), the graph gets a Saver and an init op if it has none;
// variables are restored from the newest checkpoint of the directory or else initialised, local
// variables and tables are always; positions of data and random numbers are restored too
// (run_state.h); threads begin to fill the queues of the graph (queue_runner.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/runtime/session.h"
#include "sextant/train/checkpoint_listener.h"
#include "sextant/train/hooked_run.h"
#include "sextant/train/run_state.h"
#include "sextant/train/saver.h"

#pragma GCC visibility push(default)

namespace sextant {
class Cluster;
}

namespace sextant::train {

class QueueThreads;

struct SEXTANT_API CheckpointOptions {
  Every every = {};  // neither steps nor seconds: none are saved
  std::string basename = "model.ckpt";
  std::vector<ListenerRef> listeners = {};
  // Makes what belongs to the steps so far durable, e.g. flushes events.
  std::function<void()> before_save = {};
  // E.g. notes the checkpoint in the events.
  std::function<void(const SavedCheckpoint&)> after_save = {};
};

struct SEXTANT_API MonitoredSessionOptions {
  SessionOptions session = {};
  std::string target = {};  // where the session runs; "": as session.target says
  // Of several processes that train the same variables, one initialises, restores and saves them;
  // the others wait until they are initialised, and neither restore nor save.
  bool is_chief = true;
  std::chrono::seconds max_wait_for_chief{7200};
  // A cluster that trains by epochs (runtime/cluster.h), with its own chief and target: what the
  // servers hold is taken over where it is whole, steps whose epoch has ended are run again, and
  // checkpoints are of one moment. "place" puts the variables on the servers, when the hooks have
  // added their nodes.
  std::shared_ptr<Cluster> cluster = {};
  std::function<void(Graph&)> place = {};
  // Called when the variables were lost in a training that goes on, and are those of this step
  // again.
  std::function<void(int64_t step)> after_rollback = {};
  std::string checkpoint_dir = {};   // "": always initialise
  std::string checkpoint_path = {};  // this one instead of the newest of the directory
  std::vector<std::shared_ptr<Hook>> hooks = {};
  SaverOptions saver = {};
  CheckpointOptions checkpoints = {};  // to checkpoint_dir
  // Called after initialising or restoring, e.g. to warm-start.
  std::function<void(Session&)> after_init = {};
};

// Used by one thread at a time.
class SEXTANT_API MonitoredSession {
 public:
  MonitoredSession(Graph& graph, MonitoredSessionOptions options);
  // Ends the session without calling the hooks' End: the loop was left by an error.
  ~MonitoredSession();

  // One step: the caller's fetches and those of the hooks in one Run. Throws FAILED_PRECONDITION
  // after a stop.
  std::vector<Tensor> Run(const std::vector<Output>& fetches, const FeedMap& feeds = {},
                          const std::vector<Operation>& targets = {});
  void Run(Operation target) { Run({}, {}, {target}); }

  // In a cluster, where others train while this process does not: saves a checkpoint when one is
  // due. Whether a listener wants to stop.
  bool SaveIfDue();

  bool ShouldStop() const { return stop_; }
  // False: the training of the cluster had ended before this task could join it. There is nothing
  // to run or to read then.
  bool joined() const { return joined_; }
  void RequestStop() { stop_ = true; }
  // Calls End of all hooks and saves the last checkpoint. Further Runs are refused.
  void Close();
  // Saves only: nobody is told that the training has ended, because it will go on later. The
  // checkpoint; "" when none are saved. Further Runs are refused.
  std::string SaveLast();

  Session& session() { return *session_; }
  Saver& saver() { return *saver_; }
  // Whether variables came from a checkpoint, and which.
  const std::string& restored_from() const { return restored_from_; }
  // As the last Run left it. Throws FAILED_PRECONDITION when the graph has none.
  int64_t global_step() const;
  // Saves the variables with all that resuming needs; the name of the checkpoint.
  std::string Save(const std::string& path, int64_t step);

 private:
  void Initialise();
  void InitialiseOrRestore();
  void Restore();
  void StartCheckpoints();
  bool JoinEpoch();
  void NextToken();
  RunToken* BeginStep();
  int64_t EndStep();
  void ReturnToken();
  void ResumeOwnState();
  void AwaitSlowest();
  void TakeOver();
  bool Recover(const Error& error);
  bool CheckpointDue(int64_t step) const;
  void SaveCheckpoint(int64_t step);
  bool TrySaveCheckpoint(int64_t step);
  bool SaveFirst();
  void NoteRunState();
  // Whether a listener wants to stop.
  bool TellListeners(bool first);

  Graph& graph_;
  const Every
      note_every_;  // in a cluster: how often other tasks than the chief note their run state
  const MonitoredSessionOptions options_;
  std::unique_ptr<RunState> run_state_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Session> session_;
  Operation init_, local_init_;
  Operation own_init_;               // in a cluster: global variables that are not on its servers
  std::vector<Output> initialized_;  // of other than the chief: whether each global variable is
  std::unique_ptr<HookedRun> run_;
  std::unique_ptr<QueueThreads> queues_;  // until the loop ends
  std::string restored_from_;
  int64_t last_saved_ = -1;  // step
  int64_t last_tried_ = -1;  // in a cluster: in vain
  std::string last_path_;
  std::chrono::steady_clock::time_point last_save_time_;
  int64_t noted_interval_ = 0;
  int64_t epoch_step_ = 0;  // in a cluster: at the begin of the epoch that this task began
  struct Tokens;
  std::unique_ptr<Tokens> tokens_;  // of synchronous training
  bool assigned_ = false;           // in a cluster: by this task, when it joined the epoch
  bool joined_ = true;
  bool stop_ = false, closed_ = false;
};

}  // namespace sextant::train

#pragma GCC visibility pop
