#include "sextant/dist/coordinator.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

CoordinatorOptions Checked(CoordinatorOptions options) {
  if (options.trainers.empty()) throw InvalidArgument("a cluster without a chief cannot train");
  return options;
}

}  // namespace

Coordinator::Coordinator(const CoordinatorOptions& options)
    : options_(Checked(options)),
      members_(options.lease),
      // In synchronous training a worker that waits for data would be waited for by all.
      blocks_({.seed = options.input_seed}) {}

MemberAnswer Coordinator::Answer() const {
  if (done_) return {MemberState::kDone, epoch_, stop_reason_};
  if (stopping()) return {MemberState::kStop, epoch_, stop_reason_};
  if (!ready_) return {MemberState::kWait, epoch_, why_wait_};
  return {MemberState::kReady, epoch_, ""};
}

MemberAnswer Coordinator::Join(const TaskId& task, uint64_t incarnation, std::optional<int> rank,
                               SteadyTime now) {
  Tick(now);
  const std::optional<uint64_t> before = members_.IncarnationOf(task);
  if (members_.Join(task, incarnation, now) == Membership::Admission::kTaken) {
    throw AlreadyExists(
        "there is a {} in this cluster already, and it is alive; give this process another task, "
        "or end that one",
        task.ToString());
  }
  if (rank) {
    if (before != incarnation) out_of_data_.erase(*rank);
    ranks_[task] = *rank;
    seen_.insert(*rank);
  }
  if (task.job == "ps") {
    const auto [server, is_new] = servers_.emplace(task.index, incarnation);
    if (!is_new && server->second != incarnation) {
      server->second = incarnation;
      ready_ = false;
      tokens_.reset();
      why_wait_ =
          fmt::format("{} was started again; the chief restores the variables", task.ToString());
    }
  }
  return Answer();
}

MemberAnswer Coordinator::Heartbeat(const TaskId& task, uint64_t incarnation, int64_t step,
                                    SteadyTime now) {
  Tick(now);
  RequireMember(task, incarnation, now);
  members_.Renew(task, incarnation, now);
  SeeStep(step);
  return Answer();
}

void Coordinator::Leave(const TaskId& task, uint64_t incarnation, SteadyTime now) {
  Tick(now);
  if (!members_.Leave(task, incarnation)) return;
  Forget(task);
  StopWithoutData();
}

void Coordinator::EndOfData(const TaskId& task, uint64_t incarnation, SteadyTime now) {
  Tick(now);
  RequireMember(task, incarnation, now);
  const auto rank = ranks_.find(task);
  if (rank == ranks_.end()) return;
  out_of_data_.insert(rank->second);
  clocks_.Forget(rank->second);
  if (tokens_) tokens_->Return(rank->second);
  if (tokens_ && tokens_->deterministic()) {
    RequestStop(fmt::format("{} has no more data", task.ToString()));
  }
  StopWithoutData();
}

// A dead worker may come back with data, but nobody waits for it.
void Coordinator::StopWithoutData() {
  if (out_of_data_.empty()) return;
  const bool data_left = std::any_of(ranks_.begin(), ranks_.end(), [&](const auto& trainer) {
    return !out_of_data_.contains(trainer.second);
  });
  if (!data_left) RequestStop("the data has ended");
}

uint64_t Coordinator::BeginEpoch(uint64_t incarnation, uint64_t at_least, SteadyTime now) {
  RequireChief(incarnation, now, "begin an epoch");
  epoch_ = std::max(epoch_, at_least) + 1;
  ready_ = false;
  tokens_.reset();
  held_for_ = 0;
  states_.Restore({});
  clocks_.Clear();
  why_wait_ = "the chief is initialising the variables";
  return epoch_;
}

void Coordinator::CommitEpoch(uint64_t incarnation, uint64_t epoch, int64_t step, SteadyTime now,
                              const std::optional<TokenOptions>& synchronous) {
  RequireChief(incarnation, now, "commit an epoch");
  if (epoch != epoch_) {
    throw MakeError<Code::kAborted>("epoch {} cannot be committed: the last one begun is {}", epoch,
                                    epoch_);
  }
  if (ready_) return;
  if (synchronous) {
    if (synchronous->deterministic &&
        synchronous->total_replicas != static_cast<int>(options_.trainers.size())) {
      throw InvalidArgument(
          "deterministic synchronous training needs total_num_replicas ({}) to be the number of "
          "tasks that train ({})",
          synchronous->total_replicas, options_.trainers.size());
    }
    TokenOptions options = *synchronous;
    options.max_steps = options_.max_steps;
    tokens_.emplace(options, step);
  }
  blocks_.set_wait_for_others(!tokens_.has_value());
  states_.BeginEpoch(step);
  ready_ = true;
  step_ = step;
  // The steps that were to be the last are lost: they are run again.
  if (stopped_by_steps_ && step < *options_.max_steps) {
    stop_reason_.clear();
    stopped_by_steps_ = false;
  }
  SeeStep(step);
}

void Coordinator::Adopt(uint64_t incarnation, uint64_t epoch, SteadyTime now) {
  RequireChief(incarnation, now, "take over an epoch");
  RequireEpoch(epoch);
}

bool Coordinator::MaySave(uint64_t incarnation, SteadyTime now) const {
  return members_.IsAlive(chief(), incarnation, now);
}

std::optional<StepToken> Coordinator::TakeToken(const TaskId& task, uint64_t incarnation,
                                                uint64_t epoch, SteadyTime now) {
  Tick(now);
  RequireMember(task, incarnation, now);
  RequireEpoch(epoch);
  failure_.ThrowIfError();
  const auto rank = ranks_.find(task);
  if (!tokens_ || rank == ranks_.end() || stopping() || out_of_data_.contains(rank->second)) {
    return std::nullopt;
  }
  if (const int64_t at = states_.StepOf(rank->second); deterministic() && at < tokens_->step()) {
    return StepToken{at, rank->second};  // it died when its part was done and its state not noted
  }
  return tokens_->Take(rank->second, RanksWithData(), RanksAwaited(), now);
}

bool Coordinator::MayBegin(const TaskId& task, uint64_t incarnation, uint64_t epoch, int64_t clock,
                           SteadyTime now) {
  Tick(now);
  RequireMember(task, incarnation, now);
  RequireEpoch(epoch);
  const auto rank = ranks_.find(task);
  if (rank == ranks_.end() || !options_.most_lead) return true;
  clocks_.Note(rank->second, incarnation, clock);
  return stopping() || clocks_.Lead(rank->second) <= *options_.most_lead;
}

std::set<int> Coordinator::RanksWithData() const {
  std::set<int> ranks;
  for (const auto& [task, rank] : ranks_) {
    if (!out_of_data_.contains(rank)) ranks.insert(rank);
  }
  return ranks;
}

// Those that have never been there; of those that were and died nobody knows whether they come
// back.
std::set<int> Coordinator::RanksAwaited() const {
  std::set<int> ranks;
  for (int rank = 0; rank < static_cast<int>(options_.trainers.size()); ++rank) {
    if (!seen_.contains(rank)) ranks.insert(rank);
  }
  return ranks;
}

void Coordinator::UsedToken(const TaskId& task, uint64_t incarnation, uint64_t epoch,
                            const StepToken& token, std::string state, SteadyTime now) {
  const auto rank = ranks_.find(task);
  if (!tokens_ || rank == ranks_.end() || !members_.IsAlive(task, incarnation, now)) return;
  if (!ready_ || epoch != epoch_) return;
  tokens_->Used(rank->second, token, now);
  if (deterministic()) states_.Note(rank->second, token.step + 1, std::move(state));
}

void Coordinator::PartReady(const UpdatePart& part, uint64_t epoch, int64_t step) {
  RequireEpoch(epoch);
  if (tokens_) tokens_->PartReady(part, step);
}

bool Coordinator::PartMayRun(const UpdatePart& part, uint64_t epoch, int64_t step) {
  RequireEpoch(epoch);
  return tokens_ && tokens_->MayRun(part.part, step);
}

void Coordinator::PartRan(const UpdatePart& part, uint64_t epoch, int64_t step, SteadyTime now) {
  RequireEpoch(epoch);
  if (tokens_ && tokens_->PartRan(part.part, step, now)) SeeStep(tokens_->step());
}

void Coordinator::StepFailed(uint64_t epoch, const Status& why) {
  if (epoch != epoch_ || !failure_.ok()) return;
  failure_ = why;
  RequestStop(fmt::format("an update failed: {}", why.message()));
}

bool Coordinator::HoldSteps(uint64_t incarnation, uint64_t cut, SteadyTime now) {
  RequireChief(incarnation, now, "hold the steps");
  if (cut == released_) return true;  // a question that was sent twice and comes late
  held_for_ = cut;
  if (!tokens_) return true;
  tokens_->Hold(true);
  if (tokens_->running()) return false;
  if (!deterministic() || stopping()) return true;
  for (int rank = 1; rank < static_cast<int>(options_.trainers.size()); ++rank) {
    if (!states_.Has(rank, tokens_->step())) return false;
  }
  return true;
}

bool Coordinator::ReleaseSteps(uint64_t cut) {
  if (cut == released_) return true;
  if (cut != held_for_) return false;
  EndHold();
  released_ = cut;
  return true;
}

void Coordinator::EndHold() {
  held_for_ = 0;
  if (tokens_) tokens_->Hold(false);
}

BlockAnswer Coordinator::NextBlock(const TaskId& task, uint64_t incarnation,
                                   const BlockQuestion& question, SteadyTime now) {
  Tick(now);
  RequireMember(task, incarnation, now);
  const auto rank = ranks_.find(task);
  if (rank == ranks_.end()) throw FailedPrecondition("{} does not train", task.ToString());
  // Until the chief has restored it, the state is that of another time.
  if (!ready_ && !question.report_only) {
    return {.kind = stopping() ? BlockAnswer::Kind::kEnd : BlockAnswer::Kind::kWait};
  }
  return blocks_.Next(rank->second, question);
}

void Coordinator::DescribeInput(const TaskId& task, uint64_t incarnation, const std::string& source,
                                std::vector<std::string> blocks, SteadyTime now) {
  RequireMember(task, incarnation, now);
  blocks_.Describe(source, std::move(blocks));
}

ClusterRunState Coordinator::SaveRunState() const {
  return {blocks_.Save(), deterministic() ? states_.At(tokens_->step()) : states_.Newest()};
}

void Coordinator::RestoreRunState(uint64_t incarnation, const ClusterRunState& state,
                                  SteadyTime now) {
  RequireChief(incarnation, now, "restore the input");
  if (!state.input.empty()) blocks_.Restore(state.input);
  states_.Restore(state.ranks);
  return_blocks_at_ = now + 2 * options_.lease;
}

void Coordinator::NoteRunState(const TaskId& task, uint64_t incarnation, int64_t step,
                               std::string state, SteadyTime now) {
  RequireMember(task, incarnation, now);
  if (const auto rank = ranks_.find(task); rank != ranks_.end())
    states_.Note(rank->second, step, std::move(state));
}

std::string Coordinator::TakeRunState(const TaskId& task, uint64_t incarnation, SteadyTime now) {
  RequireMember(task, incarnation, now);
  const auto rank = ranks_.find(task);
  if (rank == ranks_.end()) return {};
  return deterministic() ? states_.Newest(rank->second) : states_.TakeRestored(rank->second);
}

void Coordinator::RequestStop(const std::string& reason) {
  if (stop_reason_.empty()) stop_reason_ = reason;
}

void Coordinator::SeeStep(int64_t step) {
  step_ = std::max(step_, step);
  if (options_.max_steps && step_ >= *options_.max_steps && stop_reason_.empty()) {
    stopped_by_steps_ = true;
    RequestStop(fmt::format("step {} of {} is reached", step_, *options_.max_steps));
  }
}

void Coordinator::Tick(SteadyTime now) {
  const std::vector<Member> expired = members_.Expire(now);
  for (const Member& member : expired) {
    Forget(member.task);
    expired_.push_back(member.task);
  }
  if (tokens_) tokens_->Expire(now);
  if (!expired.empty()) StopWithoutData();
  if (!return_blocks_at_ || now < *return_blocks_at_) return;
  return_blocks_at_.reset();
  for (const int rank : blocks_.holders()) {
    const bool there =
        std::ranges::any_of(ranks_, [&](const auto& member) { return member.second == rank; });
    if (!there) blocks_.Return(rank);
  }
}

void Coordinator::Forget(const TaskId& task) {
  const auto rank = ranks_.find(task);
  if (rank == ranks_.end()) return;
  if (tokens_) tokens_->Return(rank->second);
  blocks_.Return(rank->second);
  clocks_.Forget(rank->second);
  if (task == chief()) EndHold();
  ranks_.erase(rank);
}

void Coordinator::RequireMember(const TaskId& task, uint64_t incarnation, SteadyTime now) const {
  if (members_.IsAlive(task, incarnation, now)) return;
  throw MakeError<Code::kAborted>("{} is no member of the cluster (any more): its lease has ended",
                                  task.ToString());
}

void Coordinator::RequireChief(uint64_t incarnation, SteadyTime now, const char* what) const {
  if (members_.IsAlive(chief(), incarnation, now)) return;
  throw MakeError<Code::kAborted>("only the chief may {}, and this process has no lease as {}",
                                  what, chief().ToString());
}

void Coordinator::RequireEpoch(uint64_t epoch) const {
  if (ready_ && epoch == epoch_) return;
  throw MakeError<Code::kAborted>("this is a call of epoch {}, but epoch {} {}", epoch, epoch_,
                                  ready_ ? "is current" : "is not ready");
}

std::string Coordinator::Missing() const {
  std::string missing;
  const auto check = [&](const TaskId& task) {
    if (members_.members().contains(task)) return;
    missing += (missing.empty() ? "" : ", ") + task.ToString();
  };
  for (const TaskId& task : options_.trainers) check(task);
  for (int i = 0; i < options_.num_ps; ++i) check({"ps", i});
  return missing;
}

}  // namespace sextant::dist
