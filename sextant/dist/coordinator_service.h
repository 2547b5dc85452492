// CoordinatorHost: the RPCs around the coordinator, in parameter server 0.
//
// The coordinator is a state machine under one mutex; every RPC is one transition of it. Those that
// are answered at once (Answer) run on gRPC's thread. Those that wait for other tasks, such as
// TakeToken, run on a thread of their own (AnswerWhen): the transition is tried whenever the state
// has changed, for a second at most; then the answer says "not yet" and the caller asks again, so
// that a lost connection never loses more than a question.
//
//   worker 1: TakeToken ─> none left, waits      worker 0: PartRan ─> step 7 is applied, notify
//   worker 1:              tried again ─> token of step 8
//
// Invariant: a transition is a function of the state, the arguments and the time (steady clock),
// and asking twice is as good as asking once: calls carry the incarnation of their process, and one
// that has no lease changes nothing.
//
// A thread ends leases. When a process joins as a task whose lease another process holds, the
// address of the task is asked who is there, without the mutex: a task that was killed and started
// again takes over at once, not after the lease.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "sextant/dist/admission.h"
#include "sextant/dist/call_threads.h"
#include "sextant/dist/coordinator.h"
#include "sextant/proto/cluster.grpc.pb.h"

namespace sextant::dist {

using CoordinatorMembers = CoordinatorService::WithCallbackMethod_Join<
    CoordinatorService::WithCallbackMethod_Heartbeat<CoordinatorService::WithCallbackMethod_Leave<
        CoordinatorService::WithCallbackMethod_EndOfData<
            CoordinatorService::WithCallbackMethod_RequestStop<
                CoordinatorService::WithCallbackMethod_Members<
                    CoordinatorService::WithCallbackMethod_Finish<
                        CoordinatorService::Service>>>>>>>;
using CoordinatorEpochs = CoordinatorService::WithCallbackMethod_BeginEpoch<
    CoordinatorService::WithCallbackMethod_CommitEpoch<CoordinatorService::WithCallbackMethod_Adopt<
        CoordinatorService::WithCallbackMethod_MaySave<CoordinatorMembers>>>>;
using CoordinatorSteps = CoordinatorService::WithCallbackMethod_TakeToken<
    CoordinatorService::WithCallbackMethod_UsedToken<
        CoordinatorService::WithCallbackMethod_PartReady<
            CoordinatorService::WithCallbackMethod_PartRan<
                CoordinatorService::WithCallbackMethod_StepFailed<
                    CoordinatorService::WithCallbackMethod_HoldSteps<
                        CoordinatorService::WithCallbackMethod_ReleaseSteps<
                            CoordinatorService::WithCallbackMethod_MayBegin<
                                CoordinatorEpochs>>>>>>>>;
using CoordinatorServiceBase = CoordinatorService::WithCallbackMethod_NextBlock<
    CoordinatorService::WithCallbackMethod_DescribeInput<
        CoordinatorService::WithCallbackMethod_SaveInput<
            CoordinatorService::WithCallbackMethod_RestoreInput<
                CoordinatorService::WithCallbackMethod_NoteRunState<
                    CoordinatorService::WithCallbackMethod_TakeRunState<CoordinatorSteps>>>>>>;

class CoordinatorHost final : public CoordinatorServiceBase {
 public:
  // The incarnation of the process at the address of a task; none when nobody answers.
  using Probe = std::function<std::optional<uint64_t>(const TaskId&)>;
  // "admission" must outlive it.
  CoordinatorHost(const CoordinatorOptions& options, const Admission& admission, Probe probe);
  ~CoordinatorHost() override;

  void FillStatus(TrainingStatus* status) const;
  // All tasks are told that the training has ended.
  void EndTraining();
  // Tasks that are members, this one's own included.
  std::vector<TaskId> MemberTasks() const;

  using Unary = grpc::ServerUnaryReactor*;
  using Context = grpc::CallbackServerContext*;
  Unary Join(Context context, const JoinRequest* request, MemberReply* reply) override;
  Unary Heartbeat(Context context, const HeartbeatRequest* request, MemberReply* reply) override;
  Unary Leave(Context context, const MemberRequest* request, Nothing* reply) override;
  Unary EndOfData(Context context, const MemberRequest* request, Nothing* reply) override;
  Unary RequestStop(Context context, const StopRequest* request, Nothing* reply) override;
  Unary BeginEpoch(Context context, const BeginEpochRequest* request, EpochReply* reply) override;
  Unary CommitEpoch(Context context, const CommitEpochRequest* request, Nothing* reply) override;
  Unary Adopt(Context context, const CommitEpochRequest* request, Nothing* reply) override;
  Unary MaySave(Context context, const MemberRequest* request, MaySaveReply* reply) override;
  Unary NextBlock(Context context, const NextBlockRequest* request, NextBlockReply* reply) override;
  Unary DescribeInput(Context context, const DescribeInputRequest* request,
                      Nothing* reply) override;
  Unary SaveInput(Context context, const MemberRequest* request, InputState* reply) override;
  Unary RestoreInput(Context context, const InputState* request, Nothing* reply) override;
  Unary NoteRunState(Context context, const RankState* request, Nothing* reply) override;
  Unary TakeRunState(Context context, const MemberRequest* request, RankState* reply) override;
  Unary Members(Context context, const MemberRequest* request, MembersReply* reply) override;
  Unary Finish(Context context, const MemberRequest* request, Nothing* reply) override;
  Unary TakeToken(Context context, const TakeTokenRequest* request, TakeTokenReply* reply) override;
  Unary UsedToken(Context context, const UsedTokenRequest* request, Nothing* reply) override;
  Unary MayBegin(Context context, const ClockRequest* request, ClockReply* reply) override;
  Unary PartReady(Context context, const UpdatePartRequest* request,
                  UpdatePartReply* reply) override;
  Unary PartRan(Context context, const UpdatePartRequest* request, Nothing* reply) override;
  Unary StepFailed(Context context, const StepFailedRequest* request, Nothing* reply) override;
  Unary HoldSteps(Context context, const HoldStepsRequest* request, HoldStepsReply* reply) override;
  Unary ReleaseSteps(Context context, const HoldStepsRequest* request,
                     ReleaseStepsReply* reply) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Seen {
    int rank = -1;
    int64_t step = 0;
  };

  // Runs with the coordinator locked.
  Unary Answer(Context context, const std::function<void(SteadyTime now)>& method);
  // Asks again and again, on a thread, whenever something has changed, until "method" is true, but
  // not for long: the caller asks again. A lost connection costs no more than that.
  Unary AnswerWhen(Context context, std::function<bool(SteadyTime now)> method);
  void FillReply(const MemberAnswer& answer, MemberReply* reply) const;
  void EvictIfGone(const TaskId& task, uint64_t newcomer);
  void NoteSpeed(SteadyTime now);
  void EndLeases();

  const CoordinatorOptions options_;
  const Admission& admission_;
  const Probe probe_;
  mutable std::mutex mutex_;
  Coordinator coordinator_;
  std::map<TaskId, Seen> seen_;                  // what members told of themselves
  std::map<TaskId, std::set<uint64_t>> joined_;  // processes that have been members
  // Steps per second, since the last time it was noted.
  SteadyTime speed_time_ = {};
  int64_t speed_step_ = 0;
  double steps_per_second_ = 0;
  std::condition_variable stopping_, changed_;
  bool stopped_ = false;
  std::thread clock_;
  CallThreads threads_;  // destroyed first
};

}  // namespace sextant::dist
