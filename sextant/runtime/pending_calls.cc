#include "sextant/runtime/pending_calls.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sextant/runtime/cluster_ids.h"

namespace sextant {
namespace {

// How often the other calls are looked after while one is waited for.
constexpr std::chrono::milliseconds kLookTime(50);

}  // namespace

void PendingCalls::Start(size_t call, std::vector<Tensor> inputs) {
  const std::lock_guard lock(mutex_);
  if (run_ == 0) run_ = NewClusterId();
  const auto& [fragment, task] = calls_[call];
  if (!fragment->kept.empty() && std::ranges::find(keepers_, task) == keepers_.end())
    keepers_.push_back(task);
  std::optional<StepToken> token;
  if (fragment->sum) {
    if (token_ == nullptr) {
      throw FailedPrecondition(
          "the run updates {} of {} in step with other workers (SyncReplicas), but has no token: "
          "train by a MonitoredSession or an Estimator that belongs to a cluster",
          fragment->variables.empty() ? "variables" : fragment->variables[0],
          ShortTaskName(fragment->task));
    }
    token = token_->token;
    token_->contributed = true;
  }
  answered_[call] = false;
  pending_[call] = task->Start(fragment, {run_, session_}, std::move(inputs), token);
}

void PendingCalls::Finish(size_t call, std::span<Tensor> outputs, CancellationToken& cancellation) {
  std::unique_ptr<RemoteCall> pending;
  bool alone = false;
  {
    const std::lock_guard lock(mutex_);
    pending = std::move(pending_[call]);
    alone = std::ranges::all_of(pending_, [](const auto& other) { return !other; });
  }
  try {
    while (!alone && !pending->WaitFor(kLookTime, cancellation)) LookAfterOthers(cancellation);
    pending->Wait(outputs, cancellation);
  } catch (const Error& error) {
    if (error.code() != Code::kDeadlineExceeded || !cancellation.cancelled()) throw;
    throw Error(error.code(), fmt::format("{}: no answer yet from {}",
                                          cancellation.status().message(), Silent(call, *pending)));
  }
  if (!pending->stale()) return;
  const std::lock_guard lock(mutex_);
  if (token_ != nullptr) token_->stale = true;
}

void PendingCalls::LookAfterOthers(CancellationToken& cancellation) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i])
      answered_[i] = pending_[i]->WaitFor(std::chrono::milliseconds(0), cancellation);
  }
}

// The tasks of that call and of the others that are under way.
std::string PendingCalls::Silent(size_t call, const RemoteCall& waited_for) const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> tasks = {ShortTaskName(calls_[call].fragment->task) +
                                 waited_for.hindrance()};
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i] && !answered_[i])
      tasks.insert(ShortTaskName(calls_[i].fragment->task) + pending_[i]->hindrance());
  }
  return fmt::format("{}", fmt::join(tasks, ", "));
}

void PendingCalls::End() noexcept {
  for (auto& call : pending_) call.reset();
  for (RemoteTask* task : keepers_) task->EndRun(run_);
  keepers_.clear();
  run_ = 0;
  token_ = nullptr;
}

}  // namespace sextant
