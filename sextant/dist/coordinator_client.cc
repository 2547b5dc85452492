#include "sextant/dist/coordinator_client.h"

#include "sextant/base/wait_notice.h"
#include "sextant/dist/peer_attempt.h"
#include "sextant/net/channel.h"
#include "sextant/net/tls_diagnosis.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kQuestionTime(5), kBeatTime(2);
constexpr std::chrono::milliseconds kFirstPause(20), kLongestPause(500), kJoinPause(50);

MemberAnswer AnswerOf(const MemberReply& reply) {
  static constexpr MemberState kStates[] = {MemberState::kWait, MemberState::kReady,
                                            MemberState::kStop, MemberState::kDone};
  return {kStates[std::min<size_t>(reply.state(), 3)], reply.epoch(), reply.why()};
}

}  // namespace

CoordinatorClient::CoordinatorClient(CoordinatorClientOptions options)
    : options_(std::move(options)),
      token_(options_.credentials),
      channel_(net::MakeChannel(options_.address, net::ChannelUse::kControl, options_.credentials)),
      stub_(CoordinatorService::NewStub(channel_)) {}

CoordinatorClient::~CoordinatorClient() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }
  if (heartbeats_.joinable()) heartbeats_.join();
}

void CoordinatorClient::FillMember(MemberId* member) const {
  member->set_job(options_.member.job);
  member->set_index(options_.member.index);
  member->set_incarnation(options_.incarnation);
}

void CoordinatorClient::Ask(const char* what, const Method& method) {
  CancellationToken& cancellation = options_.cancellation();
  const Clock::time_point start = Clock::now();
  WaitNotice notice;
  auto pause = kFirstPause;
  for (int attempts = 0;; ++attempts) {
    cancellation.ThrowIfCancelled();
    if (closed_) throw Error(Code::kCancelled, "the task is ending");
    grpc::ClientContext context;
    context.set_deadline(In(kQuestionTime));
    token_.AddTo(context);
    grpc::Status status;
    {
      const auto abandon = cancellation.OnCancel([&] { context.TryCancel(); });
      status = method(&context);
    }
    const Clock::time_point now = Clock::now();
    const sextant::Status error = net::FromGrpcStatus(status);
    const bool unreachable = !status.ok() && net::IsTransient(error.code());
    {
      const std::lock_guard lock(mutex_);
      if (!unreachable) heard_ = now;
      why_silent_ = unreachable ? error.message() : "";
    }
    if (status.ok()) return;
    cancellation.ThrowIfCancelled();
    if (!unreachable) error.ThrowIfError();
    if (net::HindranceOf(status) == net::Hindrance::kHandshake && attempts > 0) {
      if (const auto why = net::DiagnoseTls(options_.address, options_.credentials)) {
        throw Error(Code::kUnauthenticated, fmt::format("ps 0 at {}: {}", options_.address, *why));
      }
    }
    if (now - start > options_.lost) ThrowIfLost();
    notice.Say([&] {
      return fmt::format("waiting for ps 0 at {}, which coordinates the training, to {}: {}",
                         options_.address, what, error.message());
    });
    PauseFor(pause, cancellation);
    pause = std::min(pause * 2, kLongestPause);
    grpc::experimental::ChannelResetConnectionBackoff(channel_.get());
  }
}

bool CoordinatorClient::has_chief() const {
  const std::lock_guard lock(mutex_);
  return has_chief_;
}

std::chrono::steady_clock::duration CoordinatorClient::silence() const {
  const std::lock_guard lock(mutex_);
  return Clock::now() - heard_;
}

void CoordinatorClient::ThrowIfLost() const {
  const std::lock_guard lock(mutex_);
  replaced_.ThrowIfError();
  const auto silent = Clock::now() - heard_;
  if (silent <= options_.lost) return;
  throw Error(
      Code::kUnavailable,
      fmt::format("ps 0 at {}, which coordinates the training, was not reached for {} s: {}",
                  options_.address,
                  std::chrono::duration_cast<std::chrono::seconds>(silent).count(), why_silent_));
}

void CoordinatorClient::Note(const MemberReply& reply) {
  const std::lock_guard lock(mutex_);
  answer_ = AnswerOf(reply);
  missing_ = reply.missing();
  has_chief_ = reply.chief();
  changed_.notify_all();
}

MemberReply CoordinatorClient::JoinOnce() {
  JoinRequest request;
  FillMember(request.mutable_member());
  request.set_rank(options_.rank.value_or(-1));
  request.set_cluster(options_.cluster);
  MemberReply reply;
  Ask("join it", [&](grpc::ClientContext* context) {
    reply.Clear();
    return stub_->Join(context, request, &reply);
  });
  return reply;
}

MemberAnswer CoordinatorClient::Join() {
  const MemberReply reply = JoinOnce();
  Note(reply);
  const std::lock_guard lock(mutex_);
  if (!joined_) {
    joined_ = true;
    heartbeats_ = std::thread([this] { Heartbeats(); });
  }
  return answer_;
}

MemberAnswer CoordinatorClient::JoinAndWait(std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  CancellationToken& cancellation = options_.cancellation();
  for (WaitNotice notice;;) {
    MemberAnswer answer = Join();
    if (answer.state != MemberState::kWait) return answer;
    std::string missing;
    {
      const std::lock_guard lock(mutex_);
      missing = missing_;
    }
    if (Clock::now() >= end) {
      throw MakeError<Code::kDeadlineExceeded>("the training did not begin within {} s: {}",
                                               time.count() / 1000, answer.why);
    }
    notice.Say([&] {
      return fmt::format("waiting: {}{}{}", answer.why,
                         missing.empty() ? "" : "; not there: ", missing);
    });
    PauseFor(kJoinPause, cancellation);
  }
}

MemberAnswer CoordinatorClient::answer() const {
  const std::lock_guard lock(mutex_);
  return answer_;
}

bool CoordinatorClient::AwaitAnswer(const std::function<bool(const MemberAnswer&)>& enough,
                                    std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, time, [&] { return enough(answer_); });
}

void CoordinatorClient::SawStep(uint64_t epoch, int64_t step) {
  const std::lock_guard lock(mutex_);
  own_step_ = epoch == own_epoch_ ? std::max(own_step_, step) : step;
  own_epoch_ = epoch;
}

std::string CoordinatorClient::missing(const std::string& prefix) const {
  const std::lock_guard lock(mutex_);
  return missing_.empty() ? "" : prefix + missing_;
}

// One heartbeat. Failures are noted: they matter when they go on.
void CoordinatorClient::Beat() {
  HeartbeatRequest request;
  FillMember(request.mutable_member());
  {
    const std::lock_guard lock(mutex_);
    request.set_step(own_step_);
    request.set_epoch(own_epoch_);
  }
  grpc::ClientContext context;
  context.set_deadline(In(kBeatTime));
  token_.AddTo(context);
  MemberReply reply;
  grpc::Status status = stub_->Heartbeat(&context, request, &reply);
  if (status.error_code() == grpc::StatusCode::ABORTED) {  // the lease has ended
    JoinRequest join;
    FillMember(join.mutable_member());
    join.set_rank(options_.rank.value_or(-1));
    join.set_cluster(options_.cluster);
    grpc::ClientContext again;
    again.set_deadline(In(kBeatTime));
    token_.AddTo(again);
    reply.Clear();
    status = stub_->Join(&again, join, &reply);
  }
  if (status.ok()) Note(reply);
  const std::lock_guard lock(mutex_);
  if (status.error_code() == grpc::StatusCode::ALREADY_EXISTS)
    replaced_ = net::FromGrpcStatus(status);
  if (net::IsTransient(net::FromGrpcStatus(status).code())) {
    why_silent_ = net::FromGrpcStatus(status).message();
  } else {
    heard_ = Clock::now();
  }
}

void CoordinatorClient::Heartbeats() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, options_.heartbeat, [this] { return ended_; })) {
    lock.unlock();
    Beat();
    lock.lock();
  }
}

void CoordinatorClient::Leave() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ended_, true) || !joined_) return;
    changed_.notify_all();
  }
  heartbeats_.join();
  MemberRequest request;
  FillMember(request.mutable_member());
  Nothing reply;
  grpc::ClientContext context;
  context.set_deadline(In(kBeatTime));
  token_.AddTo(context);
  stub_->Leave(&context, request, &reply);  // one that is not heard is found out by the lease
}

void CoordinatorClient::EndOfData() {
  MemberRequest request;
  FillMember(request.mutable_member());
  Nothing reply;
  Ask("say that the data has ended",
      [&](grpc::ClientContext* context) { return stub_->EndOfData(context, request, &reply); });
}

void CoordinatorClient::RequestStop(const std::string& reason) {
  StopRequest request;
  FillMember(request.mutable_member());
  request.set_reason(reason);
  Nothing reply;
  Ask("stop the training",
      [&](grpc::ClientContext* context) { return stub_->RequestStop(context, request, &reply); });
}

uint64_t CoordinatorClient::BeginEpoch(uint64_t at_least) {
  BeginEpochRequest request;
  FillMember(request.mutable_member());
  request.set_at_least(at_least);
  EpochReply reply;
  Ask("begin an epoch",
      [&](grpc::ClientContext* context) { return stub_->BeginEpoch(context, request, &reply); });
  return reply.epoch();
}

void CoordinatorClient::CommitEpoch(uint64_t epoch, int64_t step,
                                    const std::optional<TokenOptions>& synchronous) {
  CommitEpochRequest request;
  FillMember(request.mutable_member());
  request.set_epoch(epoch);
  request.set_step(step);
  if (synchronous) {
    SynchronousDef* def = request.mutable_synchronous();
    def->set_replicas_to_aggregate(synchronous->replicas_to_aggregate);
    def->set_total_num_replicas(synchronous->total_replicas);
    def->set_deterministic(synchronous->deterministic);
  }
  Nothing reply;
  Ask("commit the epoch",
      [&](grpc::ClientContext* context) { return stub_->CommitEpoch(context, request, &reply); });
}

void CoordinatorClient::Adopt(uint64_t epoch) {
  CommitEpochRequest request;
  FillMember(request.mutable_member());
  request.set_epoch(epoch);
  Nothing reply;
  Ask("take over the epoch",
      [&](grpc::ClientContext* context) { return stub_->Adopt(context, request, &reply); });
}

bool CoordinatorClient::MaySave() {
  MemberRequest request;
  FillMember(request.mutable_member());
  MaySaveReply reply;
  Ask("say whether to save",
      [&](grpc::ClientContext* context) { return stub_->MaySave(context, request, &reply); });
  return reply.may();
}

std::vector<TaskId> CoordinatorClient::Members() {
  MemberRequest request;
  FillMember(request.mutable_member());
  MembersReply reply;
  Ask("name the members", [&](grpc::ClientContext* context) {
    reply.Clear();
    return stub_->Members(context, request, &reply);
  });
  std::vector<TaskId> tasks;
  for (const MemberId& member : reply.members()) tasks.push_back({member.job(), member.index()});
  return tasks;
}

void CoordinatorClient::Finish() {
  MemberRequest request;
  FillMember(request.mutable_member());
  Nothing reply;
  Ask("end the training",
      [&](grpc::ClientContext* context) { return stub_->Finish(context, request, &reply); });
}

}  // namespace sextant::dist
