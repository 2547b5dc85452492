#include "sextant/train/monitored_session.h"

#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/ops/state/variable.h"
#include "sextant/train/hooked_run.h"
#include "sextant/train/local_initializer.h"

namespace sextant::train {

namespace {

MonitoredSessionOptions Complete(MonitoredSessionOptions options) {
  if (!options.target.empty()) options.session.target = options.target;
  // Only the chief saves.
  if (!options.is_chief) options.checkpoints.every = {};
  return options;
}

}  // namespace

MonitoredSession::MonitoredSession(Graph& graph, MonitoredSessionOptions options)
    : graph_(graph), options_(Complete(std::move(options))) {
  const GraphScope use(graph_);
  for (const auto& hook : options_.hooks) hook->Begin();
  if (!options_.is_chief) {
    for (const Variable& variable : CollectedVariables())
      initialized_.push_back(variable.is_initialized());
  }
  run_state_ = std::make_unique<RunState>();
  init_ = GlobalVariablesInitializer();
  local_init_ = LocalInitializer(graph_);
  saver_ = std::make_unique<Saver>(graph_, options_.saver);
  session_ = std::make_unique<Session>(graph_, options_.session);
  run_ = std::make_unique<HookedRun>(*session_, options_.hooks);
  Initialise();
  for (const auto& hook : options_.hooks) hook->AfterCreateSession(*session_);
  if (options_.checkpoints.every.steps <= 0 && options_.checkpoints.every.seconds <= 0) return;
  last_save_time_ = std::chrono::steady_clock::now();
  if (restored_from_.empty()) {
    SaveCheckpoint(global_step());
    TellListeners(/*first=*/true);
  } else {
    last_saved_ = global_step();
    last_path_ = restored_from_;
    for (const ListenerRef& listener : options_.checkpoints.listeners) {
      listener->AfterRestore({*session_, last_path_, last_saved_, false, *saver_});
    }
  }
}

MonitoredSession::~MonitoredSession() = default;

void MonitoredSession::WaitForChief() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + options_.max_wait_for_chief;
  auto pause = std::chrono::milliseconds(20), since_report = std::chrono::milliseconds(0);
  for (;;) {
    std::string missing;
    const std::vector<Tensor> ready = session_->Run(initialized_);
    for (size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].scalar<bool>()) continue;
      missing += (missing.empty() ? "" : ", ") + initialized_[i].node()->input(0).node()->name();
    }
    if (missing.empty()) return;
    if (Clock::now() >= end) {
      throw MakeError<Code::kDeadlineExceeded>(
          "the chief has not initialised these variables after {} s: {}",
          options_.max_wait_for_chief.count(), missing);
    }
    if (since_report.count() == 0)
      LogInfo("Waiting for model to be ready. The variables {} are not initialised yet.", missing);
    std::this_thread::sleep_for(pause);
    since_report += pause;
    if (since_report > std::chrono::seconds(10)) since_report = std::chrono::milliseconds(0);
    pause = std::min(pause * 2, std::chrono::milliseconds(1000));
  }
}

void MonitoredSession::Initialise() {
  if (!options_.is_chief) {
    session_->Run(local_init_);
    WaitForChief();
    if (options_.after_init) options_.after_init(*session_);
    return;
  }
  restored_from_ = options_.checkpoint_path;
  if (restored_from_.empty() && !options_.checkpoint_dir.empty()) {
    restored_from_ = LatestCheckpoint(options_.checkpoint_dir).value_or("");
    saver_->Recover(options_.checkpoint_dir);
  }
  session_->Run(local_init_);
  session_->Run(init_);
  if (!restored_from_.empty()) {
    LogInfo("Restoring parameters from {}", restored_from_);
    Restore();
  }
  if (options_.after_init) options_.after_init(*session_);
}

void MonitoredSession::Restore() {
  if (TensorBundleReader(restored_from_).Contains(RunState::kVariable)) {
    saver_->Restore(*session_, restored_from_);
    run_state_->Apply(*session_, options_.hooks);
    return;
  }
  // Of TensorFlow, or written without a MonitoredSession: data and random streams begin anew.
  Saver others(graph_, {.scope = "restore", .leave_out = {RunState::kVariable}});
  others.Restore(*session_, restored_from_);
}

std::vector<Tensor> MonitoredSession::Run(const std::vector<Output>& fetches, const FeedMap& feeds,
                                          const std::vector<Operation>& targets) {
  if (stop_ || closed_) throw FailedPrecondition("the training has stopped; make a new session");
  std::vector<Tensor> values = run_->Run(fetches, feeds, targets);
  if (run_->stop_requested()) stop_ = true;
  if (last_saved_ >= 0) {
    const int64_t now = global_step();
    if (CheckpointDue(now)) {
      SaveCheckpoint(now);
      if (TellListeners(/*first=*/false)) stop_ = true;
    }
  }
  return values;
}

int64_t MonitoredSession::global_step() const { return run_->global_step(); }

// At multiples of the interval, so that a run that was interrupted saves at the steps at which it
// would have without.
bool MonitoredSession::CheckpointDue(int64_t step) const {
  const Every& every = options_.checkpoints.every;
  if (step == last_saved_) return false;
  if (every.steps > 0) return step >= (last_saved_ / every.steps + 1) * every.steps;
  const auto since = std::chrono::steady_clock::now() - last_save_time_;
  return std::chrono::duration<double>(since).count() >= every.seconds;
}

void MonitoredSession::SaveCheckpoint(int64_t step) {
  const CheckpointOptions& options = options_.checkpoints;
  const std::string path = JoinPath(options_.checkpoint_dir, options.basename);
  for (const ListenerRef& listener : options.listeners) listener->BeforeSave(*session_, step);
  LogInfo("Saving checkpoints for {} into {}.", step, path);
  if (options.before_save) options.before_save();
  const bool first = last_saved_ < 0;
  last_path_ = Save(path, step);
  last_saved_ = step;
  last_save_time_ = std::chrono::steady_clock::now();
  if (options.after_save) options.after_save({*session_, last_path_, step, first, *saver_});
}

bool MonitoredSession::TellListeners(bool first) {
  bool stop = false;
  for (const ListenerRef& listener : options_.checkpoints.listeners) {
    stop |= listener->AfterSave({*session_, last_path_, last_saved_, first, *saver_});
  }
  return stop;
}

std::string MonitoredSession::Save(const std::string& path, int64_t step) {
  run_state_->Capture(*session_, options_.hooks);
  return saver_->Save(*session_, path, step);
}

std::string MonitoredSession::SaveLast() {
  closed_ = stop_ = true;
  if (last_saved_ < 0) return {};
  if (const int64_t step = global_step(); step != last_saved_) SaveCheckpoint(step);
  return last_path_;
}

void MonitoredSession::Close() {
  if (closed_) return;
  for (const auto& hook : options_.hooks) hook->End(*session_);
  const int64_t saved_before = last_saved_;
  if (SaveLast().empty()) return;
  if (last_saved_ != saved_before) TellListeners(/*first=*/false);
  for (const ListenerRef& listener : options_.checkpoints.listeners) {
    listener->End({*session_, last_path_, last_saved_, false, *saver_});
  }
}

}  // namespace sextant::train
