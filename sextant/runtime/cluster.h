// Cluster: what a process that is a task of a cluster asks of it while it trains: whether the
// variables are there, in which epoch, when to stop, a snapshot to save. dist implements it over
// gRPC (dist/training_task.h); a process that trains alone has none.
//
//   std::unique_ptr<Cluster> cluster = OpenCluster(options);     // listens, joins nobody yet
//   Session session(graph, {.target = cluster->target()});
//   if (cluster->Start(variables) == ClusterStart::kInitialise) {  // of the chief
//     … initialise or restore the variables with the session …
//     cluster->Commit(step);
//   }
//   while (!cluster->stopping()) {
//     session.Run(train_op);         // throws ABORTED when the epoch has ended: Start again
//     cluster->SawStep(step);
//   }
//   cluster->Leave();
//
// Who calls it: train/monitored_session (Start, Commit, cuts), estimator/cluster_training (steps,
// end), estimator/cluster_roles (Serve of a parameter server).
//
// Where others plug in.
// - Blocks of input: the coordinator's state machine gets them as a member beside the tokens, two
//   methods in proto/cluster.proto and two here; estimator gives them to data, which knows no
//   cluster.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/device/remote_task.h"
#include "sextant/runtime/block_question.h"
#include "sextant/runtime/session.h"

namespace sextant {

// What becomes of asynchronous updates that are staler than a limit: how many other updates a
// server has run between the reads of a step and its update (dist/staleness.h).
enum class StaleUpdates {
  kDrop,   // they are not made; the step is counted
  kScale,  // their gradients are multiplied by 1 / (1 + staleness)
  // They are prevented: a worker that is more than the limit of steps ahead of the slowest live
  // worker blocks (stale synchronous parallel; Ho et al., More effective distributed ML via a
  // stale synchronous parallel parameter server, 2013).
  kBlock,
};
struct StalenessLimit {
  std::optional<int64_t> most = {};  // none: there is no limit
  StaleUpdates beyond = StaleUpdates::kDrop;
};

struct ClusterTaskOptions {
  std::map<std::string, std::vector<std::string>> jobs;  // job → addresses
  std::string job;
  int index = 0;
  std::string address;   // of this task
  bool dynamic = false;  // tasks come and go
  // The tasks that train, by rank: the chief first.
  std::vector<std::pair<std::string, int>> trainers;
  std::optional<int> rank;  // of this task among them
  int num_ps = 1;
  std::optional<int64_t> max_steps;
  uint64_t input_seed = 0;  // of the order in which blocks of the data are read
  StalenessLimit staleness = {};
  std::chrono::milliseconds lease{5000};
  // Timeout of a task that waits for the chief to begin the first epoch.
  std::chrono::milliseconds start_timeout{7'200'000};
  // Timeout of an unreachable coordinator.
  std::chrono::milliseconds peers_lost{600'000};
  // Grace period of a server that is told to end: the chief may have been told so too, and saves a
  // checkpoint.
  std::chrono::milliseconds save_time{10'000};
  SessionOptions session = {};  // threads, devices and memory of what other tasks run here
  std::shared_ptr<CancellationToken> cancellation = {};  // ends every wait
};

// What the servers keep, in order of names: the chief and the servers must mean the same model.
struct ClusterVariable {
  std::string name, dtype, shape;
};

enum class ClusterStart {
  kReady,       // the variables are there: go on
  kInitialise,  // of the chief: assign all variables, then Commit
  kStop,        // the training has come to its end
};

// How the steps of a synchronous model are counted (train/sync_replicas.h).
struct ClusterSynchronous {
  int replicas_to_aggregate = 1;
  int total_num_replicas = 1;
  bool deterministic = false;
};

// Thread-safe. Waits end with what cancelled the options' token, and with UNAVAILABLE when the
// coordinator was not reached for too long; they say within 5 s, then every 30 s, for whom and why.
class Cluster {
 public:
  virtual ~Cluster() = default;

  // What sessions of this task name to run here.
  virtual const std::string& target() const = 0;
  virtual bool is_chief() const = 0;

  // ---- of tasks that train

  // Becomes a member, without waiting for the chief. Throws ALREADY_EXISTS when another process is
  // this task.
  virtual void Join() = 0;
  // Joins, or joins again after an error ABORTED. The chief finds out what the servers hold: its
  // model in one epoch is taken over, otherwise a new epoch begins, in which only its calls are
  // let through. Others wait for the chief. Throws FAILED_PRECONDITION, naming the first variable
  // that differs, when the servers hold another model; ALREADY_EXISTS when another process is this
  // task; DEADLINE_EXCEEDED when the chief does not begin an epoch in time.
  virtual ClusterStart Start(const std::vector<ClusterVariable>& model) = 0;
  // Of the chief: all variables are assigned; `step` is the global step. Lets the others in. Throws
  // INVALID_ARGUMENT when the model's way of synchronous training does not fit the cluster.
  virtual void Commit(int64_t step, const std::optional<ClusterSynchronous>& synchronous = {}) = 0;
  // Whether an error of a Run means that Start is to be called and the step to be run again.
  virtual bool EndsEpoch(const Error& error) const = 0;

  // Whether the epoch that this task is in has ended, though no error has told it.
  virtual bool EpochEnded() = 0;

  // The largest global step this task has seen; the next heartbeat tells it.
  virtual void SawStep(int64_t step) = 0;
  // Whether max_steps are reached, the data has ended for all or somebody asked to stop.
  virtual bool stopping() const = 0;
  virtual std::string stop_reason() const = 0;
  virtual void RequestStop(const std::string& reason) = 0;
  // This task has no more data.
  virtual void EndOfData() = 0;
  // Waits no longer end with the options' token, but after this time: to save what is done.
  virtual void Drain(std::chrono::milliseconds time) = 0;
  // Ends the membership and the heartbeats.
  virtual void Leave() = 0;

  // Synchronous steps (dist/step_tokens.h): a Run contributes by a token (RunOptions::token), then
  // the token has been used. Waits for the token; none: the training stops. Throws what an update
  // has failed with, ABORTED when the epoch has ended. Deterministic: "state" is that of this task
  // behind the step, which it goes on from if it dies.
  virtual std::optional<StepToken> TakeToken() = 0;
  virtual void UsedToken(const StepToken& token, const std::string& state = {}) = 0;

  // Before each step of asynchronous training: waits while this task is too far ahead of others
  // (StaleUpdates::kBlock), or until the training stops. Throws as TakeToken does.
  virtual void AwaitSlowest() = 0;

  // ---- input that is shared out (block_question.h)

  // Throw ABORTED while this task is no member.
  virtual BlockAnswer NextBlock(const BlockQuestion& question) = 0;
  virtual void DescribeInput(const std::string& source, const std::vector<std::string>& blocks) = 0;
  // Of the chief, with checkpoints: which blocks are read, and what other tasks have noted.
  virtual ClusterRunState SaveRunState() = 0;
  virtual void RestoreRunState(const ClusterRunState& state) = 0;
  // The state of this task when it had come to this step, for the next checkpoint.
  virtual void NoteRunState(int64_t step, const std::string& state) = 0;
  // What the checkpoint that the chief has restored has of this task; once. "": nothing. In
  // deterministic training the state that this task has noted last, if it has noted one.
  virtual std::string TakeRunState() = 0;

  // ---- of the chief

  // Takes a snapshot of all variables of all servers at one moment; until it is destroyed, Runs of
  // this process read that instead.
  class Cut {
   public:
    virtual ~Cut() = default;
  };
  virtual std::unique_ptr<Cut> TakeCut() = 0;
  // Throws ABORTED when this process may not put a checkpoint in place (any more): its lease has
  // ended, and another chief may have taken over.
  virtual void CheckMaySave() = 0;
  // Waits until no other task trains, but not longer. False when some still do.
  virtual bool AwaitOthers(std::chrono::milliseconds time) = 0;
  // The last checkpoint is saved: all tasks end.
  virtual void Finish() = 0;

  // ---- of parameter servers

  // Serves until the training has ended and the others have left. "ended" is asked now and then
  // whether it has, in case the chief died before it could say so. Throws as waits do.
  virtual void Serve(const std::function<bool()>& ended) = 0;
};

using ClusterOpener = std::function<std::unique_ptr<Cluster>(const ClusterTaskOptions&)>;
void RegisterClusterOpener(ClusterOpener open);

// Listens at the address of the task. Throws UNAVAILABLE, naming the address, when it cannot,
// FAILED_PRECONDITION when the library of clusters is not installed.
std::unique_ptr<Cluster> OpenCluster(const ClusterTaskOptions& options);

}  // namespace sextant
