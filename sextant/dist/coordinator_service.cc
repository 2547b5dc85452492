#include "sextant/dist/coordinator_service.h"

#include "sextant/base/logging.h"
#include "sextant/dist/block_messages.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::milliseconds kTickTime(250);
constexpr std::chrono::seconds kSpeedTime(2), kLongestAnswer(1);

TaskId TaskOf(const MemberId& member) { return {member.job(), member.index()}; }

UpdatePart PartOf(const UpdatePartRequest& request) {
  return {.part = request.part(), .num_parts = request.num_parts(), .stage = request.stage()};
}

MemberReply::State ToMessage(MemberState state) {
  switch (state) {
    case MemberState::kReady:
      return MemberReply::READY;
    case MemberState::kStop:
      return MemberReply::STOP;
    case MemberState::kDone:
      return MemberReply::DONE;
    case MemberState::kWait:
      break;
  }
  return MemberReply::WAIT;
}

}  // namespace

CoordinatorHost::CoordinatorHost(const CoordinatorOptions& options, const Admission& admission,
                                 Probe probe)
    : options_(options),
      admission_(admission),
      probe_(std::move(probe)),
      coordinator_(options),
      clock_([this] { EndLeases(); }) {}

CoordinatorHost::~CoordinatorHost() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    stopping_.notify_all();
    changed_.notify_all();
  }
  clock_.join();
}

void CoordinatorHost::EndLeases() {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, kTickTime, [this] { return stopped_; })) {
    coordinator_.Tick(Clock::now());
    for (const TaskId& task : coordinator_.TakeExpired())
      LogWarning("{} is not heard of any more: its lease has ended", task.ToString());
    NoteSpeed(Clock::now());
    changed_.notify_all();
  }
}

void CoordinatorHost::NoteSpeed(SteadyTime now) {
  const int64_t step = coordinator_.step();
  const double seconds = std::chrono::duration<double>(now - speed_time_).count();
  if (speed_time_ != SteadyTime() && seconds < std::chrono::duration<double>(kSpeedTime).count())
    return;
  if (speed_time_ != SteadyTime() && step >= speed_step_)
    steps_per_second_ = static_cast<double>(step - speed_step_) / seconds;
  speed_time_ = now;
  speed_step_ = step;
}

CoordinatorHost::Unary CoordinatorHost::Answer(Context context,
                                               const std::function<void(SteadyTime)>& method) {
  return admission_.Answer(context, [&]() -> grpc::Status {
    const std::lock_guard lock(mutex_);
    method(Clock::now());
    changed_.notify_all();
    return grpc::Status::OK;
  });
}

CoordinatorHost::Unary CoordinatorHost::AnswerWhen(Context context,
                                                   std::function<bool(SteadyTime)> method) {
  return admission_.AnswerLater(
      threads_, context, [this, method = std::move(method)]() -> grpc::Status {
        std::unique_lock lock(mutex_);
        const auto end = Clock::now() + kLongestAnswer;
        bool done = method(Clock::now());
        changed_.notify_all();  // the question itself may have changed something
        while (!done && !stopped_ && changed_.wait_until(lock, end) == std::cv_status::no_timeout) {
          done = method(Clock::now());
          if (done) changed_.notify_all();
        }
        return grpc::Status::OK;
      });
}

void CoordinatorHost::FillReply(const MemberAnswer& answer, MemberReply* reply) const {
  reply->set_state(ToMessage(answer.state));
  reply->set_epoch(answer.epoch);
  reply->set_why(answer.why);
  reply->set_step(coordinator_.step());
  reply->set_chief(coordinator_.members().members().contains(options_.trainers.front()));
  if (answer.state == MemberState::kWait) reply->set_missing(coordinator_.Missing());
}

void CoordinatorHost::EvictIfGone(const TaskId& task, uint64_t newcomer) {
  std::optional<uint64_t> holder;
  {
    const std::lock_guard lock(mutex_);
    holder = coordinator_.members().IncarnationOf(task);
    // One that was stopped for longer than its lease has lost its place to who took it.
    if (joined_[task].contains(newcomer)) return;
  }
  if (!holder || *holder == newcomer || probe_(task) != newcomer) return;
  LogInfo("{} was started again", task.ToString());
  const std::lock_guard lock(mutex_);
  coordinator_.Leave(task, *holder, Clock::now());
}

CoordinatorHost::Unary CoordinatorHost::Join(Context context, const JoinRequest* request,
                                             MemberReply* reply) {
  return admission_.AnswerLater(threads_, context, [this, request, reply]() -> grpc::Status {
    const TaskId task = TaskOf(request->member());
    if (request->cluster() != options_.cluster && request->cluster() != 0 &&
        options_.cluster != 0) {
      throw FailedPrecondition(
          "{} has another cluster in its TF_CONFIG than ps 0; give all tasks the same",
          task.ToString());
    }
    const uint64_t incarnation = request->member().incarnation();
    EvictIfGone(task, incarnation);
    const std::lock_guard lock(mutex_);
    std::optional<int> rank;
    if (request->rank() >= 0) rank = request->rank();
    const auto before = coordinator_.members().IncarnationOf(task);
    FillReply(coordinator_.Join(task, incarnation, rank, Clock::now()), reply);
    seen_[task].rank = request->rank();
    joined_[task].insert(incarnation);
    if (before != incarnation) LogInfo("{} has joined the training", task.ToString());
    return grpc::Status::OK;
  });
}

CoordinatorHost::Unary CoordinatorHost::Heartbeat(Context context, const HeartbeatRequest* request,
                                                  MemberReply* reply) {
  return Answer(context, [&](SteadyTime now) {
    const TaskId task = TaskOf(request->member());
    FillReply(coordinator_.Heartbeat(task, request->member().incarnation(), request->step(), now),
              reply);
    seen_[task].step = request->step();
  });
}

CoordinatorHost::Unary CoordinatorHost::Leave(Context context, const MemberRequest* request,
                                              Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.Leave(TaskOf(request->member()), request->member().incarnation(), now);
  });
}

CoordinatorHost::Unary CoordinatorHost::EndOfData(Context context, const MemberRequest* request,
                                                  Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.EndOfData(TaskOf(request->member()), request->member().incarnation(), now);
  });
}

CoordinatorHost::Unary CoordinatorHost::RequestStop(Context context, const StopRequest* request,
                                                    Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime) { coordinator_.RequestStop(request->reason()); });
}

CoordinatorHost::Unary CoordinatorHost::BeginEpoch(Context context,
                                                   const BeginEpochRequest* request,
                                                   EpochReply* reply) {
  return Answer(context, [&](SteadyTime now) {
    reply->set_epoch(
        coordinator_.BeginEpoch(request->member().incarnation(), request->at_least(), now));
  });
}

CoordinatorHost::Unary CoordinatorHost::CommitEpoch(Context context,
                                                    const CommitEpochRequest* request,
                                                    Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    std::optional<TokenOptions> synchronous;
    if (request->has_synchronous()) {
      const SynchronousDef& def = request->synchronous();
      synchronous = TokenOptions{.replicas_to_aggregate = def.replicas_to_aggregate(),
                                 .total_replicas = def.total_num_replicas(),
                                 .deterministic = def.deterministic()};
    }
    coordinator_.CommitEpoch(request->member().incarnation(), request->epoch(), request->step(),
                             now, synchronous);
    LogInfo("epoch {} begins at step {}", request->epoch(), request->step());
  });
}

CoordinatorHost::Unary CoordinatorHost::Adopt(Context context, const CommitEpochRequest* request,
                                              Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.Adopt(request->member().incarnation(), request->epoch(), now);
  });
}

CoordinatorHost::Unary CoordinatorHost::MaySave(Context context, const MemberRequest* request,
                                                MaySaveReply* reply) {
  return Answer(context, [&](SteadyTime now) {
    reply->set_may(coordinator_.MaySave(request->member().incarnation(), now));
  });
}

CoordinatorHost::Unary CoordinatorHost::Members(Context context, const MemberRequest* /*request*/,
                                                MembersReply* reply) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.Tick(now);
    for (const auto& [task, member] : coordinator_.members().members()) {
      MemberId* added = reply->add_members();
      added->set_job(task.job);
      added->set_index(task.index);
      added->set_incarnation(member.incarnation);
    }
  });
}

CoordinatorHost::Unary CoordinatorHost::Finish(Context context, const MemberRequest* request,
                                               Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    if (!coordinator_.MaySave(request->member().incarnation(), now))
      throw FailedPrecondition("only the chief may end the training");
    coordinator_.Finish();
  });
}

CoordinatorHost::Unary CoordinatorHost::TakeToken(Context context, const TakeTokenRequest* request,
                                                  TakeTokenReply* reply) {
  return AnswerWhen(context, [this, request, reply](SteadyTime now) {
    const TaskId task = TaskOf(request->member());
    const uint64_t incarnation = request->member().incarnation();
    const auto token = coordinator_.TakeToken(task, incarnation, request->epoch(), now);
    FillReply(coordinator_.Heartbeat(task, incarnation, 0, now), reply->mutable_member());
    if (!token) {
      reply->mutable_member()->set_missing(coordinator_.Missing());
      return coordinator_.stopping();
    }
    reply->mutable_token()->set_step(token->step);
    reply->mutable_token()->set_number(token->number);
    return true;
  });
}

CoordinatorHost::Unary CoordinatorHost::UsedToken(Context context, const UsedTokenRequest* request,
                                                  Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.UsedToken(TaskOf(request->member()), request->member().incarnation(),
                           request->epoch(), {request->token().step(), request->token().number()},
                           request->state(), now);
  });
}

CoordinatorHost::Unary CoordinatorHost::MayBegin(Context context, const ClockRequest* request,
                                                 ClockReply* reply) {
  return AnswerWhen(context, [this, request, reply](SteadyTime now) {
    reply->set_may(coordinator_.MayBegin(TaskOf(request->member()), request->member().incarnation(),
                                         request->epoch(), request->clock(), now));
    return reply->may();
  });
}

CoordinatorHost::Unary CoordinatorHost::PartReady(Context context, const UpdatePartRequest* request,
                                                  UpdatePartReply* reply) {
  return AnswerWhen(context, [this, request, reply](SteadyTime) {
    coordinator_.PartReady(PartOf(*request), request->epoch(), request->step());
    reply->set_run(coordinator_.PartMayRun(PartOf(*request), request->epoch(), request->step()));
    return reply->run();
  });
}

CoordinatorHost::Unary CoordinatorHost::PartRan(Context context, const UpdatePartRequest* request,
                                                Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.PartRan(PartOf(*request), request->epoch(), request->step(), now);
  });
}

CoordinatorHost::Unary CoordinatorHost::NextBlock(Context context, const NextBlockRequest* request,
                                                  NextBlockReply* reply) {
  return Answer(context, [&](SteadyTime now) {
    const BlockAnswer answer = coordinator_.NextBlock(
        TaskOf(request->member()), request->member().incarnation(), QuestionOf(*request), now);
    FillAnswer(answer, reply);
  });
}

CoordinatorHost::Unary CoordinatorHost::DescribeInput(Context context,
                                                      const DescribeInputRequest* request,
                                                      Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.DescribeInput(TaskOf(request->member()), request->member().incarnation(),
                               request->source(),
                               {request->blocks().begin(), request->blocks().end()}, now);
  });
}

CoordinatorHost::Unary CoordinatorHost::SaveInput(Context context, const MemberRequest* /*request*/,
                                                  InputState* reply) {
  return Answer(context, [&](SteadyTime) { *reply = MessageOf(coordinator_.SaveRunState()); });
}

CoordinatorHost::Unary CoordinatorHost::RestoreInput(Context context, const InputState* request,
                                                     Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.RestoreRunState(request->member().incarnation(), RunStateOf(*request), now);
  });
}

CoordinatorHost::Unary CoordinatorHost::NoteRunState(Context context, const RankState* request,
                                                     Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime now) {
    coordinator_.NoteRunState(TaskOf(request->member()), request->member().incarnation(),
                              request->step(), request->state(), now);
  });
}

CoordinatorHost::Unary CoordinatorHost::TakeRunState(Context context, const MemberRequest* request,
                                                     RankState* reply) {
  return Answer(context, [&](SteadyTime now) {
    reply->set_state(
        coordinator_.TakeRunState(TaskOf(request->member()), request->member().incarnation(), now));
  });
}

CoordinatorHost::Unary CoordinatorHost::StepFailed(Context context,
                                                   const StepFailedRequest* request,
                                                   Nothing* /*reply*/) {
  return Answer(context, [&](SteadyTime) {
    coordinator_.StepFailed(
        request->epoch(), sextant::Status(static_cast<Code>(request->code()), request->message()));
  });
}

CoordinatorHost::Unary CoordinatorHost::HoldSteps(Context context, const HoldStepsRequest* request,
                                                  HoldStepsReply* reply) {
  return AnswerWhen(context, [this, request, reply](SteadyTime now) {
    reply->set_held(coordinator_.HoldSteps(request->member().incarnation(), request->cut(), now));
    return reply->held();
  });
}

CoordinatorHost::Unary CoordinatorHost::ReleaseSteps(Context context,
                                                     const HoldStepsRequest* request,
                                                     ReleaseStepsReply* reply) {
  return Answer(context,
                [&](SteadyTime) { reply->set_stood(coordinator_.ReleaseSteps(request->cut())); });
}

void CoordinatorHost::FillStatus(TrainingStatus* status) const {
  const std::lock_guard lock(mutex_);
  const SteadyTime now = Clock::now();
  status->set_epoch(coordinator_.epoch());
  status->set_ready(coordinator_.ready());
  status->set_step(coordinator_.step());
  status->set_steps_per_second(steps_per_second_);
  status->set_stop_reason(coordinator_.stop_reason());
  status->set_missing(coordinator_.Missing());
  if (coordinator_.tokens() != nullptr)
    status->set_tokens_expired(coordinator_.tokens()->expired());
  for (const auto& [task, member] : coordinator_.members().members()) {
    MemberStatus* added = status->add_members();
    added->mutable_member()->set_job(task.job);
    added->mutable_member()->set_index(task.index);
    added->mutable_member()->set_incarnation(member.incarnation);
    const auto seen = seen_.find(task);
    added->set_rank(seen == seen_.end() ? -1 : seen->second.rank);
    added->set_step(seen == seen_.end() ? 0 : seen->second.step);
    if (seen != seen_.end())
      added->set_blocks(coordinator_.blocks().blocks_read(seen->second.rank));
    added->set_lease_seconds(std::chrono::duration<double>(member.lease_end - now).count());
  }
}

void CoordinatorHost::EndTraining() {
  const std::lock_guard lock(mutex_);
  coordinator_.Finish();
}

std::vector<TaskId> CoordinatorHost::MemberTasks() const {
  const std::lock_guard lock(mutex_);
  std::vector<TaskId> tasks;
  for (const auto& [task, member] : coordinator_.members().members()) tasks.push_back(task);
  return tasks;
}

}  // namespace sextant::dist
