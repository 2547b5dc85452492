#include "sextant/train/monitored_session.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/graph/device_name.h"
#include "sextant/graph/gradient_mark.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/cluster.h"
#include "sextant/train/global_step.h"
#include "sextant/train/hooked_run.h"
#include "sextant/train/local_initializer.h"
#include "sextant/train/queue_runner.h"
#include "sextant/train/saver_graph.h"
#include "sextant/train/session_tokens.h"
#include "sextant/train/wait_for_chief.h"

namespace sextant::train {

namespace {

MonitoredSessionOptions Complete(MonitoredSessionOptions options) {
  if (!options.target.empty()) options.session.target = options.target;
  if (options.cluster) {
    options.session.target = options.cluster->target();
    options.is_chief = options.cluster->is_chief();
  }
  // Only the chief saves.
  if (!options.is_chief) options.checkpoints.every = {};
  return options;
}

// Whether the variable is on a parameter server, or nothing says where it is.
bool IsShared(const Variable& variable) {
  const std::string& device = variable.handle().node()->device();
  return !device.empty() && DeviceName::Parse(device).job == "ps";
}

std::vector<ClusterVariable> SharedVariables() {
  std::vector<ClusterVariable> model;
  for (const Variable& variable : CollectedVariables()) {
    if (!IsShared(variable)) continue;
    model.push_back(
        {variable.name(), std::string(DTypeName(variable.dtype())), variable.shape().ToString()});
  }
  std::ranges::sort(model, {}, &ClusterVariable::name);
  return model;
}

int64_t StepIn(const std::string& checkpoint) {
  const TensorBundleReader reader(checkpoint);
  return reader.Contains(kGlobalStep) ? reader.Read(kGlobalStep).AsInt64() : 0;
}

// Those of the variables that are not among `saved`.
std::vector<Operation> InitializersBeside(const std::vector<SavedTensor>& saved) {
  std::unordered_set<std::string_view> names;
  for (const SavedTensor& tensor : saved) names.insert(tensor.variable);
  std::vector<Operation> initializers;
  for (const Variable& variable : CollectedVariables()) {
    if (!names.contains(variable.handle().node()->name()))
      initializers.push_back(variable.initializer());
  }
  return initializers;
}

Operation OwnInitializer() {
  std::vector<Operation> initializers;
  for (const Variable& variable : CollectedVariables()) {
    if (!IsShared(variable)) initializers.push_back(variable.initializer());
  }
  return Group(initializers, "own_init");
}

}  // namespace

MonitoredSession::MonitoredSession(Graph& graph, MonitoredSessionOptions options)
    : graph_(graph),
      note_every_(options.checkpoints.every),
      options_(Complete(std::move(options))) {
  const GraphScope use(graph_);
  for (const auto& hook : options_.hooks) hook->Begin();
  if (options_.place) options_.place(graph_);
  if (!options_.is_chief && !options_.cluster) {
    for (const Variable& variable : CollectedVariables())
      initialized_.push_back(variable.is_initialized());
  }
  run_state_ = std::make_unique<RunState>();
  init_ = GlobalVariablesInitializer();
  if (options_.cluster) own_init_ = OwnInitializer();
  local_init_ = LocalInitializer(graph_);
  saver_ = std::make_unique<Saver>(graph_, options_.saver);
  session_ = std::make_unique<Session>(graph_, options_.session);
  run_ = std::make_unique<HookedRun>(*session_, options_.hooks);
  if (options_.cluster) {
    run_->set_recovery([this](const Error& error) { return Recover(error); });
    if (const auto mark = FindGradientMark(graph_)) {
      tokens_ = std::make_unique<Tokens>();
      tokens_->synchronous = {mark->replicas_to_aggregate, mark->total_num_replicas,
                              mark->deterministic};
      run_->set_tokens([this] { return BeginStep(); }, [this] { return EndStep(); });
    }
    session_->Run(local_init_);
    session_->Run(own_init_);
    if (tokens_ && tokens_->synchronous.deterministic)
      tokens_->initial_state = RunState::StateOf(*session_, options_.hooks);
    joined_ = JoinEpoch();
    if (!joined_) {
      stop_ = closed_ = true;
      return;
    }
    stop_ = options_.cluster->stopping();
  } else {
    Initialise();
  }
  queues_ = std::make_unique<QueueThreads>(*session_);
  for (const auto& hook : options_.hooks) hook->AfterCreateSession(*session_);
  StartCheckpoints();
  if (tokens_ && !stop_) NextToken();
}

void MonitoredSession::StartCheckpoints() {
  if (options_.checkpoints.every.steps <= 0 && options_.checkpoints.every.seconds <= 0) return;
  last_save_time_ = std::chrono::steady_clock::now();
  if (restored_from_.empty()) {
    if (!SaveFirst()) return;
    TellListeners(/*first=*/true);
  } else {
    last_saved_ = options_.cluster ? StepIn(restored_from_) : global_step();
    last_path_ = restored_from_;
    for (const ListenerRef& listener : options_.checkpoints.listeners) {
      listener->AfterRestore({*session_, last_path_, last_saved_, false, *saver_});
    }
    // Of a model that was taken over: what the others have done meanwhile is kept from now on.
    const int64_t now = options_.cluster && !assigned_ ? global_step() : last_saved_;
    if (now > last_saved_ && !stop_ && TrySaveCheckpoint(now) && TellListeners(/*first=*/false))
      stop_ = true;
  }
}

MonitoredSession::~MonitoredSession() = default;

void MonitoredSession::Initialise() {
  if (!options_.is_chief) {
    session_->Run(local_init_);
    WaitForChief(*session_, initialized_, options_.max_wait_for_chief);
    if (options_.after_init) options_.after_init(*session_);
    return;
  }
  session_->Run(local_init_);
  InitialiseOrRestore();
}

void MonitoredSession::InitialiseOrRestore() {
  restored_from_ = options_.checkpoint_path;
  if (restored_from_.empty() && !options_.checkpoint_dir.empty()) {
    restored_from_ = LatestCheckpoint(options_.checkpoint_dir).value_or("");
    saver_->Recover(options_.checkpoint_dir);
  }
  if (restored_from_.empty()) {
    session_->Run(init_);
  } else {
    LogInfo("Restoring parameters from {}", restored_from_);
    Restore();
  }
  if (options_.after_init) options_.after_init(*session_);
}

// Whether there is something to train.
bool MonitoredSession::JoinEpoch() {
  const GraphScope use(graph_);
  for (;;) {
    try {
      const ClusterStart start = options_.cluster->Start(SharedVariables());
      if (start == ClusterStart::kStop) return false;
      if (start == ClusterStart::kInitialise) {
        if (tokens_) {
          RunState::ApplyState(tokens_->initial_state, *session_, options_.hooks);
          if (tokens_->synchronous.deterministic) run_->ForgetData();
        }
        InitialiseOrRestore();
        run_->ForgetGlobalStep();
        epoch_step_ = GetGlobalStep(graph_) ? global_step() : 0;
        std::optional<ClusterSynchronous> synchronous;
        if (tokens_) synchronous = tokens_->synchronous;
        options_.cluster->Commit(epoch_step_, synchronous);
        assigned_ = true;
        return true;
      }
      if (options_.is_chief && !assigned_ && !options_.checkpoint_dir.empty()) TakeOver();
      ResumeOwnState();
      return true;
    } catch (const Error& e) {
      if (!options_.cluster->EndsEpoch(e)) throw;
      LogWarning("{}; the epoch is begun again", e.message());
    }
  }
}

// No variable has its initial value in between: other workers begin as soon as all have one.
void MonitoredSession::Restore() {
  SaverOptions restored = options_.saver;
  if (TensorBundleReader(restored_from_).Contains(RunState::kVariable)) {
    saver_->Restore(*session_, restored_from_);
    run_state_->Apply(*session_, options_.hooks);
    if (options_.cluster) options_.cluster->RestoreRunState(run_state_->OthersIn(*session_));
  } else {
    // Of TensorFlow, or written without a MonitoredSession: data and random streams begin anew.
    restored = {.scope = "restore", .leave_out = {RunState::kVariable}};
    Saver(graph_, restored).Restore(*session_, restored_from_);
  }
  const std::vector<Operation> others = InitializersBeside(SavedTensorsOf(graph_, restored));
  if (!others.empty()) session_->Run({}, {}, others);
}

std::vector<Tensor> MonitoredSession::Run(const std::vector<Output>& fetches, const FeedMap& feeds,
                                          const std::vector<Operation>& targets) {
  if (stop_ || closed_) throw FailedPrecondition("the training has stopped; make a new session");
  if (options_.cluster && !tokens_) AwaitSlowest();
  std::vector<Tensor> values;
  try {
    values = run_->Run(fetches, feeds, targets);
  } catch (const Error&) {
    queues_->ThrowFailure();
    throw;
  }
  if (run_->stop_requested()) stop_ = true;
  const int64_t now = last_saved_ >= 0 || options_.cluster ? global_step() : 0;
  if (last_saved_ >= 0) {
    const bool ends = options_.cluster && (stop_ || options_.cluster->stopping());
    if (!ends && CheckpointDue(now) && TrySaveCheckpoint(now)) {  // the last one follows
      if (TellListeners(/*first=*/false)) stop_ = true;
    }
  }
  if (options_.cluster && !stop_) {
    options_.cluster->SawStep(now);
    stop_ = options_.cluster->stopping();
    NoteRunState();
    if (!stop_ && options_.cluster->EpochEnded())
      Recover(MakeError<Code::kAborted>("the epoch has ended"));
  }
  return values;
}

bool MonitoredSession::SaveIfDue() {
  if (last_saved_ < 0) return false;
  try {
    run_->ForgetGlobalStep();
    const int64_t now = global_step();
    return CheckpointDue(now) && TrySaveCheckpoint(now) && TellListeners(/*first=*/false);
  } catch (const Error& e) {
    if (!Recover(e)) throw;
    return false;
  }
}

int64_t MonitoredSession::global_step() const { return run_->global_step(); }

// At multiples of the interval, so that a run that was interrupted saves at the steps at which it
// would have without.
bool MonitoredSession::CheckpointDue(int64_t step) const {
  const Every& every = options_.checkpoints.every;
  if (step == last_saved_) return false;
  const int64_t last = std::max(last_saved_, std::min(last_tried_, step));
  if (every.steps > 0) return step >= (last / every.steps + 1) * every.steps;
  const auto since = std::chrono::steady_clock::now() - last_save_time_;
  return std::chrono::duration<double>(since).count() >= every.seconds;
}

bool MonitoredSession::SaveFirst() {
  for (;;) {
    try {
      SaveCheckpoint(global_step());
      return true;
    } catch (const Error& e) {
      if (!options_.cluster || !options_.cluster->EndsEpoch(e)) throw;
      LogWarning("no checkpoint is saved: {}", e.message());
    }
    if (JoinEpoch()) continue;
    stop_ = true;
    return false;
  }
}

bool MonitoredSession::TrySaveCheckpoint(int64_t step) {
  if (!options_.cluster) {
    SaveCheckpoint(step);
    return true;
  }
  try {
    SaveCheckpoint(step);
    return true;
  } catch (const Error& e) {
    // Of an epoch that has ended the next step hears too; a disk that is full may have room later.
    if (!options_.cluster->EndsEpoch(e) && e.code() != Code::kResourceExhausted) throw;
    LogWarning("no checkpoint is saved: {}", e.message());
    last_tried_ = step;
    last_save_time_ = std::chrono::steady_clock::now();
    return false;
  }
}

void MonitoredSession::SaveCheckpoint(int64_t step) {
  std::unique_ptr<Cluster::Cut> cut;
  if (options_.cluster) {
    // Others go on: the step is that of the snapshot.
    cut = options_.cluster->TakeCut();
    run_->ForgetGlobalStep();
    step = global_step();
  }
  const CheckpointOptions& options = options_.checkpoints;
  const std::string path = JoinPath(options_.checkpoint_dir, options.basename);
  for (const ListenerRef& listener : options.listeners) listener->BeforeSave(*session_, step);
  LogInfo("Saving checkpoints for {} into {}.", step, path);
  if (options.before_save) options.before_save();
  const bool first = last_saved_ < 0;
  last_path_ = Save(path, step);
  cut.reset();
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
  if (options_.cluster) {
    run_state_->CaptureCluster(*session_, options_.hooks, options_.cluster->SaveRunState());
  } else {
    run_state_->Capture(*session_, options_.hooks);
  }
  SaveOptions options;
  if (options_.cluster) options.before_state = [this] { options_.cluster->CheckMaySave(); };
  return saver_->Save(*session_, path, step, options);
}

std::string MonitoredSession::SaveLast() {
  closed_ = stop_ = true;
  queues_.reset();
  if (tokens_ && tokens_->next && tokens_->next->contributed) ReturnToken();
  if (last_saved_ < 0) return {};
  if (options_.cluster) run_->ForgetGlobalStep();
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
