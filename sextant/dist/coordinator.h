// Coordinator: the state of a training in a cluster that all its tasks share. It lives in parameter
// server 0: members and their leases, the epoch, the tokens of synchronous steps, the stop.
//
// The state machine alone: no threads, no RPCs, time is an argument. coordinator_service.h stands
// around it.
//
//   task                       coordinator
//   ps, worker: Join ────────> wait: the chief has not committed an epoch
//   chief: Join, BeginEpoch ─> 4
//     (assigns all variables)
//   chief: CommitEpoch(4) ───> ready
//   worker: Join ────────────> ready, epoch 4
//   all: Heartbeat each second, else the lease ends
//   worker: EndOfData, Leave
//   chief: Finish ───────────> every heartbeat and Join is answered: done
//
// The chief is a worker that also saves; when it dies the others go on. A parameter server that
// comes back empty, or a chief that begins an epoch, ends the epoch: members are answered "wait"
// until the chief has committed the next one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/dist/input_blocks.h"
#include "sextant/dist/membership.h"
#include "sextant/dist/run_states.h"
#include "sextant/dist/step_tokens.h"
#include "sextant/dist/worker_clocks.h"

namespace sextant::dist {

struct CoordinatorOptions {
  SteadyDuration lease = std::chrono::seconds(5);
  std::vector<TaskId> trainers = {{"chief", 0}};  // the tasks that train, by rank: the chief first
  int num_ps = 1;
  // Hash of the cluster's tasks: who has another one is refused. 0: tasks come and go.
  uint64_t cluster = 0;
  std::optional<int64_t> max_steps = {};
  uint64_t input_seed = 0;                // of the order in which blocks of the data are read
  std::optional<int64_t> most_lead = {};  // steps that a worker may be ahead of the slowest
};

enum class MemberState {
  kReady,  // train, in the epoch that is told
  kWait,   // ask again; why says for whom
  kStop,   // max_steps are reached or a stop was asked for: leave
  kDone,   // the training has ended: leave at once
};
struct MemberAnswer {
  MemberState state = MemberState::kWait;
  uint64_t epoch = 0;
  std::string why = {};
};

class Coordinator {
 public:
  explicit Coordinator(const CoordinatorOptions& options);

  // Throws ALREADY_EXISTS when another process is this task. `rank` of tasks that train.
  MemberAnswer Join(const TaskId& task, uint64_t incarnation, std::optional<int> rank,
                    SteadyTime now);
  // Throws ABORTED when the process is no member (any more): it joins again. `step` is the last
  // global step it has seen.
  MemberAnswer Heartbeat(const TaskId& task, uint64_t incarnation, int64_t step, SteadyTime now);
  void Leave(const TaskId& task, uint64_t incarnation, SteadyTime now);
  // A task that trains has no more data. It stays a member until it leaves. When no member has
  // data, all are to stop.
  void EndOfData(const TaskId& task, uint64_t incarnation, SteadyTime now);

  // Of the chief, whose lease must live: throws ABORTED otherwise, and it joins again. The number
  // of the new epoch, larger than `at_least`, the largest that any server knows, and than all
  // before.
  uint64_t BeginEpoch(uint64_t incarnation, uint64_t at_least, SteadyTime now);
  // Throws ABORTED when this is not the epoch that has begun last or the caller has no lease as
  // chief. "synchronous" says how the model's steps are counted, if they are; its
  // max_steps are the coordinator's. Throws INVALID_ARGUMENT when that does not fit the cluster.
  void CommitEpoch(uint64_t incarnation, uint64_t epoch, int64_t step, SteadyTime now,
                   const std::optional<TokenOptions>& synchronous = {});
  // A chief that found the same epoch of its model on all servers takes it over. Throws as
  // CommitEpoch does.
  void Adopt(uint64_t incarnation, uint64_t epoch, SteadyTime now);
  // Whether this process may put a checkpoint in its place: the chief, while its lease lives.
  bool MaySave(uint64_t incarnation, SteadyTime now) const;

  // Synchronous training. The token of the worker; none: it waits, or is told to stop by the next
  // heartbeat. Throws ABORTED when the epoch is not the current one, or the caller no member.
  std::optional<StepToken> TakeToken(const TaskId& task, uint64_t incarnation, uint64_t epoch,
                                     SteadyTime now);
  // Deterministic: "state" is the run state of the worker behind the step. A worker that died and
  // comes back with the state of an earlier step gets the token of that step again.
  void UsedToken(const TaskId& task, uint64_t incarnation, uint64_t epoch, const StepToken& token,
                 std::string state, SteadyTime now);
  // Asynchronous training: whether a worker that has begun `clock` steps may begin one more. Throws
  // as TakeToken does.
  bool MayBegin(const TaskId& task, uint64_t incarnation, uint64_t epoch, int64_t clock,
                SteadyTime now);
  // Of the parts of an update (step_tokens.h). Calls of other epochs are ABORTED.
  void PartReady(const UpdatePart& part, uint64_t epoch, int64_t step);
  bool PartMayRun(const UpdatePart& part, uint64_t epoch, int64_t step);
  void PartRan(const UpdatePart& part, uint64_t epoch, int64_t step, SteadyTime now);
  // An update could not be run: all are to stop, and TakeToken throws this.
  void StepFailed(uint64_t epoch, const Status& why);
  // Of the chief, for this cut: no step is committed until it releases them, or its lease ends.
  // False while one is being committed, or the run state of a worker at this step is awaited: ask
  // again.
  bool HoldSteps(uint64_t incarnation, uint64_t cut, SteadyTime now);
  // Whether they were held for this cut until now. If not, the chief's lease has ended meanwhile
  // and steps may have been committed: what it has read is not of one step. May be sent again.
  bool ReleaseSteps(uint64_t cut);

  // Blocks of the training data (input_blocks.h). Throw ABORTED when the caller is no member.
  BlockAnswer NextBlock(const TaskId& task, uint64_t incarnation, const BlockQuestion& question,
                        SteadyTime now);
  void DescribeInput(const TaskId& task, uint64_t incarnation, const std::string& source,
                     std::vector<std::string> blocks, SteadyTime now);
  // For checkpoints: which blocks are read, and what the tasks have noted last; in deterministic
  // training, for this step.
  ClusterRunState SaveRunState() const;
  // Of the chief. Blocks of workers that do not come back within two leases go to others.
  void RestoreRunState(uint64_t incarnation, const ClusterRunState& state, SteadyTime now);
  // The run state of a task that trains (train/run_state.h), for the next checkpoint.
  void NoteRunState(const TaskId& task, uint64_t incarnation, int64_t step, std::string state,
                    SteadyTime now);
  // What was restored for this task, once; "": nothing. In deterministic training what it has noted
  // last, if it has.
  std::string TakeRunState(const TaskId& task, uint64_t incarnation, SteadyTime now);

  // Asks all to stop, once; the first reason is kept.
  void RequestStop(const std::string& reason);
  // The chief has saved the last checkpoint.
  void Finish() { done_ = true; }

  // Ends leases, gives back tokens. To be called now and then, and at NextEvent.
  void Tick(SteadyTime now);
  std::optional<SteadyTime> NextEvent() const { return members_.NextExpiry(); }
  // Members whose leases have ended since it was asked last.
  std::vector<TaskId> TakeExpired() { return std::exchange(expired_, {}); }

  const Membership& members() const { return members_; }
  uint64_t epoch() const { return epoch_; }
  bool ready() const { return ready_; }
  int64_t step() const { return step_; }
  bool stopping() const { return !stop_reason_.empty(); }
  const std::string& stop_reason() const { return stop_reason_; }
  const StepTokens* tokens() const { return tokens_ ? &*tokens_ : nullptr; }
  const InputBlocks& blocks() const { return blocks_; }
  // Tasks that were expected and are not members, e.g. "worker 1, ps 0".
  std::string Missing() const;

 private:
  const TaskId& chief() const { return options_.trainers.front(); }
  MemberAnswer Answer() const;
  void RequireChief(uint64_t incarnation, SteadyTime now, const char* what) const;
  void RequireEpoch(uint64_t epoch) const;
  void Forget(const TaskId& task);
  void EndHold();
  void RequireMember(const TaskId& task, uint64_t incarnation, SteadyTime now) const;
  void SeeStep(int64_t step);
  void StopWithoutData();
  std::set<int> RanksWithData() const;
  std::set<int> RanksAwaited() const;
  bool deterministic() const { return tokens_ && tokens_->deterministic(); }

  const CoordinatorOptions options_;
  Membership members_;
  std::map<TaskId, int> ranks_;      // of members that train
  std::map<int, uint64_t> servers_;  // incarnations of parameter servers that have been seen
  std::set<int> out_of_data_;        // ranks
  uint64_t epoch_ = 0;
  bool ready_ = false;
  std::string why_wait_ = "the chief has not started the training yet";
  int64_t step_ = 0;
  std::string stop_reason_;
  bool stopped_by_steps_ = false;  // and not for another reason
  bool done_ = false;
  std::vector<TaskId> expired_;
  std::set<int> seen_;  // ranks that have joined at some time
  Status failure_;      // of an update
  std::optional<StepTokens> tokens_;
  InputBlocks blocks_;
  uint64_t held_for_ = 0, released_ = 0;  // cuts; 0: none
  RunStates states_;
  WorkerClocks clocks_;
  std::optional<SteadyTime> return_blocks_at_;  // those of workers that are not members
};

}  // namespace sextant::dist
