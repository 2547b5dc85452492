// How an epoch begins and what a cut is, seen from the chief; shard_epoch.h says why two phases.
//
//   chief                        coordinator (ps 0)       every ps
//   Join                         member
//   GetShard ──────────────────────────────────────────>  phase, epoch, signature
//   all ready, one epoch: Adopt ─> goes on                                          nothing is lost
//   else: BeginEpoch ──────────> all others wait
//     BeginShard ──────────────────────────────────────>  only the chief's calls pass
//     (a session assigns all variables)
//     CommitShard ─────────────────────────────────────>  calls of the epoch pass
//     CommitEpoch ─────────────> others are let in
//
//   HoldCut on all, then TakeCut on all: between the two no server runs a call, so the references
//   that they take are of one moment. The chief's own calls then read these (Stamp.cut).
#include "sextant/dist/training_task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "sextant/base/logging.h"
#include "sextant/base/wait_notice.h"
#include "sextant/dist/coordinator_client.h"
#include "sextant/dist/coordinator_commit.h"
#include "sextant/dist/coordinator_service.h"
#include "sextant/dist/fragment_messages.h"
#include "sextant/dist/incarnation.h"
#include "sextant/dist/peer_attempt.h"
#include "sextant/dist/peers.h"
#include "sextant/dist/server.h"
#include "sextant/dist/shard_client.h"
#include "sextant/dist/shard_epoch.h"
#include "sextant/dist/training_options.h"

namespace sextant::dist {
namespace {

constexpr std::chrono::seconds kPortTime(7), kLookForEnd(5);
constexpr std::chrono::milliseconds kPoll(20);

}  // namespace

class TrainingTask final : public Cluster {
 public:
  explicit TrainingTask(const ClusterTaskOptions& options)
      : options_(options),
        stamp_(std::make_shared<TrainingStamp>()),
        credentials_(net::CredentialsFromEnvironment()) {
    stamp_->check_wait = [this] { CheckWait(); };
    Listen();
    stamp_->member = server_->incarnation();
    client_ = std::make_unique<CoordinatorClient>(CoordinatorClientOptions{
        .member = {options_.job, options_.index},
        .incarnation = server_->incarnation(),
        .rank = options_.rank,
        .address =
            coordinates() ? ToString({"127.0.0.1", server_->port()}) : options_.jobs.at("ps").at(0),
        .cluster = ClusterHash(options_),
        .heartbeat = std::min(std::chrono::milliseconds(1000), options_.lease / 5),
        .lost = options_.peers_lost,
        .credentials = credentials_,
        .cancellation = [this]() -> CancellationToken& { return cancellation(); }});
    shards_ = std::make_unique<ShardClient>(
        server_->peers(), options_.num_ps, [this] { CheckWait(); },
        [this]() -> CancellationToken& { return cancellation(); });
    commit_->set_client(client_.get());
  }
  ~TrainingTask() override {
    client_->Close();
    shards_.reset();
    server_.reset();  // its updates ask the coordinator
  }

  const std::string& target() const override { return server_->target(); }
  bool is_chief() const override { return options_.rank == 0; }

  void Join() override { client_->Join(); }
  ClusterStart Start(const std::vector<ClusterVariable>& model) override;
  void Commit(int64_t step, const std::optional<ClusterSynchronous>& synchronous) override;
  bool EndsEpoch(const Error& error) const override { return error.code() == Code::kAborted; }

  bool EpochEnded() override {
    client_->ThrowIfLost();
    const auto ended = [this](const MemberAnswer& answer) {
      return answer.state == MemberState::kWait ||
             (answer.state == MemberState::kReady && answer.epoch != stamp_->epoch);
    };
    // An answer may be older than the epoch.
    return ended(client_->answer()) && ended(client_->Join());
  }
  void SawStep(int64_t step) override { client_->SawStep(stamp_->epoch, step); }
  bool stopping() const override {
    const MemberState state = client_->answer().state;
    return state == MemberState::kStop || state == MemberState::kDone;
  }
  std::string stop_reason() const override { return client_->answer().why; }
  void RequestStop(const std::string& reason) override { client_->RequestStop(reason); }
  void EndOfData() override { client_->EndOfData(); }
  void Drain(std::chrono::milliseconds time) override {
    drain_deadline_.reset(
        new DeadlineTimer::Handle(DeadlineTimer::Schedule(Clock::now() + time, drained_)));
    draining_ = true;
  }
  void Leave() override { client_->Leave(); }

  std::optional<StepToken> TakeToken() override;
  void UsedToken(const StepToken& token, const std::string& state) override {
    client_->UsedToken(stamp_->epoch, token, state);
  }

  void AwaitSlowest() override;

  BlockAnswer NextBlock(const BlockQuestion& asked) override { return client_->NextBlock(asked); }
  void DescribeInput(const std::string& source, const std::vector<std::string>& blocks) override {
    client_->DescribeInput(source, blocks);
  }
  ClusterRunState SaveRunState() override { return client_->SaveRunState(); }
  void RestoreRunState(const ClusterRunState& state) override { client_->RestoreRunState(state); }
  void NoteRunState(int64_t at, const std::string& s) override { client_->NoteRunState(at, s); }
  std::string TakeRunState() override { return client_->TakeRunState(); }

  std::unique_ptr<Cut> TakeCut() override;
  void CheckMaySave() override {
    if (client_->MaySave()) return;
    throw MakeError<Code::kAborted>(
        "this chief's lease has ended: another one may have taken over, so no checkpoint is put in "
        "place");
  }
  bool AwaitOthers(std::chrono::milliseconds time) override;
  void Finish() override { client_->Finish(); }
  void Serve(const std::function<bool()>& ended) override;

 private:
  class ServersCut;
  using Clock = std::chrono::steady_clock;

  bool coordinates() const { return options_.job == "ps" && options_.index == 0; }
  CancellationToken& cancellation() {
    if (draining_) return drained_;
    return options_.cancellation ? *options_.cancellation : never_;
  }
  void CheckWait() {
    cancellation().ThrowIfCancelled();
    if (client_) client_->ThrowIfLost();
  }
  // A task that coordinates and is not told its own name speaks to itself.
  std::string AddressOfCoordinator() const {
    const auto servers = options_.jobs.find("ps");
    if (servers == options_.jobs.end() || servers->second.empty() || servers->second[0].empty())
      return ToString({"127.0.0.1", server_->port()});
    return servers->second[0];
  }
  // Of servers that are told to end: the chief may have been told so too, and saves.
  void AwaitChief();
  // Of servers: nobody will say that the training has ended.
  bool ChiefIsGone();
  void Listen();
  ClusterStart StartAsChief(const ModelSignature& model);
  void EnterEpoch(uint64_t epoch) {
    server_->peers().ForgetIncarnations();
    stamp_->epoch = epoch;
  }

  const ClusterTaskOptions options_;
  const std::shared_ptr<TrainingStamp> stamp_;
  const net::CredentialOptions credentials_;
  CancellationToken never_, drained_;
  std::unique_ptr<DeadlineTimer::Handle> drain_deadline_;
  std::atomic<bool> draining_ = false;
  int64_t clock_ = 0;                        // steps that this task has begun
  std::optional<WaitNotice> others_notice_;  // of the chief, while others train
  const std::shared_ptr<CoordinatorCommit> commit_ = std::make_shared<CoordinatorCommit>();
  std::unique_ptr<Server> server_;
  std::unique_ptr<CoordinatorClient> client_;
  std::unique_ptr<ShardClient> shards_;
};

// A port may be held for a moment by the process that this one takes the place of.
void TrainingTask::Listen() {
  ServerOptions server{.cluster = options_.jobs,
                       .job = options_.job,
                       .task = options_.index,
                       .session = options_.session,
                       .credentials = credentials_,
                       .training = stamp_,
                       .staleness = std::make_shared<StalenessLimit>(options_.staleness)};
  if (options_.job == "ps") server.commit = commit_;
  auto& own = server.cluster[options_.job];
  if (own.size() <= static_cast<size_t>(options_.index)) own.resize(options_.index + 1);
  if (own[options_.index].empty()) own[options_.index] = options_.address;
  if (coordinates()) server.coordinator = OptionsOfCoordinator(options_);
  const std::string host = BindAddress(ParseAddress(own[options_.index])).host;
  if (host != "127.0.0.1" && host != "::1" && host != "localhost" && !credentials_.server_tls() &&
      !credentials_.guarded()) {
    LogWarning(
        "any process that reaches {} can join this training: give all tasks a token "
        "(SEXTANT_TOKEN_FILE) or TLS unless the network is closed",
        own[options_.index]);
  }
  const auto end = Clock::now() + kPortTime;
  for (bool said = false;;) {
    try {
      server_ = std::make_unique<Server>(server);
      return;
    } catch (const Error& e) {
      if (e.code() != Code::kUnavailable || Clock::now() >= end) throw;
      if (!std::exchange(said, true)) LogWarning("{} (trying again)", e.message());
    }
    PauseFor(std::chrono::milliseconds(200), cancellation());
  }
}

ClusterStart TrainingTask::Start(const std::vector<ClusterVariable>& model) {
  ModelSignature signature;
  for (const ClusterVariable& variable : model)
    signature.push_back({variable.name, variable.dtype, variable.shape});
  if (is_chief()) return StartAsChief(signature);
  const MemberAnswer answer = client_->JoinAndWait(options_.start_timeout);
  if (answer.state != MemberState::kReady) return ClusterStart::kStop;
  const std::vector<ShardState> states = shards_->States();
  for (size_t ps = 0; ps < states.size(); ++ps) {
    if (states[ps].phase != ShardPhase::kReady) continue;
    const std::string difference = FirstDifference(states[ps].signature, signature);
    if (difference.empty()) continue;
    throw FailedPrecondition("ps {} holds another model than this task trains: {}", ps, difference);
  }
  EnterEpoch(answer.epoch);
  return ClusterStart::kReady;
}

ClusterStart TrainingTask::StartAsChief(const ModelSignature& model) {
  if (client_->Join().state == MemberState::kDone) return ClusterStart::kStop;
  const std::vector<ShardState> states = shards_->States();
  const StartDecision decision = DecideStart(states, model);
  if (decision.action == StartAction::kRefuse) throw FailedPrecondition("{}", decision.why);
  if (decision.action == StartAction::kAdopt) {
    try {
      client_->Adopt(states[0].epoch);
      EnterEpoch(states[0].epoch);
      return ClusterStart::kReady;
    } catch (const Error& e) {
      if (e.code() != Code::kAborted) throw;
    }
  }
  if (!decision.why.empty()) LogInfo("{}; a new epoch begins", decision.why);
  const uint64_t epoch = client_->BeginEpoch(decision.next_epoch - 1);
  shards_->Begin(epoch, server_->incarnation(), model);
  EnterEpoch(epoch);
  return ClusterStart::kInitialise;
}

void TrainingTask::Commit(int64_t step, const std::optional<ClusterSynchronous>& synchronous) {
  std::optional<TokenOptions> tokens;
  if (synchronous) {
    tokens = TokenOptions{.replicas_to_aggregate = synchronous->replicas_to_aggregate,
                          .total_replicas = synchronous->total_num_replicas,
                          .deterministic = synchronous->deterministic};
  }
  const uint64_t epoch = stamp_->epoch;
  shards_->Commit(epoch, server_->incarnation());
  client_->CommitEpoch(epoch, step, tokens);
  client_->Join();  // so that the answer is that of the new epoch
}

std::optional<StepToken> TrainingTask::TakeToken() {
  for (WaitNotice notice;;) {
    CheckWait();
    if (const auto token = client_->TakeToken(stamp_->epoch)) return token;
    if (stopping()) return std::nullopt;
    notice.Say([&] { return "waiting for other workers" + client_->missing("; not there: "); });
  }
}

void TrainingTask::AwaitSlowest() {
  if (!options_.staleness.most || options_.staleness.beyond != StaleUpdates::kBlock) return;
  const int64_t clock = clock_++;
  for (WaitNotice notice;;) {
    CheckWait();
    if (stopping() || client_->MayBegin(stamp_->epoch, clock)) return;
    notice.Say([&] {
      return fmt::format("waiting for slower workers: this one is more than {} steps ahead",
                         *options_.staleness.most);
    });
  }
}

class TrainingTask::ServersCut : public Cut {
 public:
  ServersCut(TrainingTask& task, CutRequest request) : task_(task), request_(std::move(request)) {}
  ~ServersCut() override {
    task_.stamp_->cut = 0;
    task_.shards_->Drop(request_);
  }

 private:
  TrainingTask& task_;
  const CutRequest request_;
};

std::unique_ptr<Cluster::Cut> TrainingTask::TakeCut() {
  CutRequest request;
  request.set_epoch(stamp_->epoch);
  request.set_chief(server_->incarnation());
  request.set_cut(NewIncarnation());
  auto cut = std::make_unique<ServersCut>(*this, request);
  HeldSteps between_two(*client_, request.cut(), [this] { CheckWait(); });
  shards_->Hold(request);
  shards_->Take(request);
  between_two.Release();
  stamp_->cut = request.cut();
  return cut;
}

bool TrainingTask::AwaitOthers(std::chrono::milliseconds time) {
  const auto end = Clock::now() + time;
  for (;;) {
    const std::vector<TaskId> members = client_->Members();
    std::vector<std::string> others;
    for (const TaskId& task : members) {
      if (task.job != "ps" && task != client_->member()) others.push_back(task.ToString());
    }
    if (others.empty()) others_notice_.reset();
    if (others.empty() || Clock::now() >= end) return others.empty();
    if (!others_notice_) others_notice_.emplace();
    others_notice_->Say([&] {
      return fmt::format("waiting for {} to end their training", fmt::join(others, ", "));
    });
    PauseFor(kPoll, cancellation());
  }
}

bool TrainingTask::ChiefIsGone() {
  return !client_->has_chief() || client_->silence() > options_.lease;
}

void TrainingTask::AwaitChief() {
  const auto end = Clock::now() + options_.save_time;
  for (WaitNotice notice; !ChiefIsGone() && Clock::now() < end;) {
    notice.Say(
        [] { return "waiting for the chief, which may be saving, before this server ends"; });
    PauseFor(kPoll, never_);
  }
}

void TrainingTask::Serve(const std::function<bool()>& ended) {
  client_->Join();
  auto next_look = Clock::now() + kLookForEnd;
  WaitNotice notice;
  const auto done = [](const MemberAnswer& answer) { return answer.state == MemberState::kDone; };
  while (!client_->AwaitAnswer(done, std::chrono::milliseconds(200))) {
    if (options_.cancellation && options_.cancellation->cancelled()) {
      AwaitChief();
      options_.cancellation->ThrowIfCancelled();
    }
    CheckWait();
    if (Clock::now() >= next_look) {
      next_look = Clock::now() + kLookForEnd;
      if (ChiefIsGone() && ended && ended()) break;
    }
    if (client_->answer().state != MemberState::kWait) {
      notice.Reset();
    } else {
      notice.Say([&] { return "waiting: " + client_->answer().why; });
    }
  }
  if (!coordinates()) {
    client_->Leave();
    return;
  }
  // The others hear of the end here.
  server_->coordinator()->EndTraining();
  const auto end = Clock::now() + options_.lease + std::chrono::seconds(2);
  for (WaitNotice others; Clock::now() < end; PauseFor(kPoll, cancellation())) {
    std::vector<std::string> left;
    for (const TaskId& task : server_->coordinator()->MemberTasks()) {
      if (task != client_->member()) left.push_back(task.ToString());
    }
    if (left.empty()) break;
    others.Say(
        [&] { return fmt::format("waiting for {} to hear of the end", fmt::join(left, ", ")); });
  }
}

std::unique_ptr<Cluster> OpenTrainingTask(const ClusterTaskOptions& options) {
  return std::make_unique<TrainingTask>(options);
}

}  // namespace sextant::dist
