#include "sextant/estimator/training.h"

#include <cmath>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/exit_code.h"
#include "sextant/base/file_system.h"
#include "sextant/base/input_limits.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_file.h"
#include "sextant/estimator/cluster_training.h"
#include "sextant/estimator/input_sharing.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/estimator/resumed_input.h"
#include "sextant/formats/checkpoint_journal.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/event_writer.h"
#include "sextant/formats/message_text.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/dataset/iterator_states.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/runtime/cluster.h"
#include "sextant/train/cancellation_hooks.h"
#include "sextant/train/global_step.h"
#include "sextant/train/monitored_session.h"
#include "sextant/train/rewind_on_nan.h"

namespace sextant {
namespace {

// To save in when the process is told to end; platforms kill it after 30 s.
constexpr std::chrono::seconds kSaveTime(20);

void CheckOptions(const TrainOptions& options) {
  if (options.steps && options.max_steps) {
    throw InvalidArgument("a training takes steps ({}) or max_steps ({}), not both", *options.steps,
                          *options.max_steps);
  }
  if (options.steps.value_or(1) <= 0 || options.max_steps.value_or(1) <= 0) {
    throw InvalidArgument("a training needs at least 1 step, not {}",
                          options.steps ? *options.steps : *options.max_steps);
  }
}

train::Every CheckpointInterval(const RunConfig& config) {
  if (config.save_checkpoints_steps) return {.steps = *config.save_checkpoints_steps};
  return {.seconds = config.save_checkpoints_secs.value_or(600)};
}

std::string GraphPath(const std::string& model_dir) { return JoinPath(model_dir, "graph.pbtxt"); }

// The graph, for TensorBoard and for people. The file comes last: when it is there, all is.
void WriteGraph(const Graph& graph, const std::string& model_dir, EventWriter& events) {
  const proto::GraphDef def = ExportGraphDef(graph, {.output_shapes = true});
  events.AddGraph(def.SerializeAsString());
  events.Flush();
  const std::string path = GraphPath(model_dir);
  FileSystem::ForPath(path).WriteFileAtomically(path, MessageText(def));
}

// Begins the events of a training when its session is there: one that cannot begin leaves no file.
class BeginEvents : public train::Hook {
 public:
  BeginEvents(const RunConfig& config, std::optional<int64_t> resumed,
              std::optional<EventWriter>* events)
      : model_dir_(config.model_dir), resumed_(resumed), events_(*events) {}
  void AfterCreateSession(Session& session) override {
    events_.emplace(model_dir_);
    // What an earlier process wrote behind the checkpoint that this one goes on from is made again.
    events_->AddSessionStart(resumed_.value_or(0) + 1);
    const std::string graph = GraphPath(model_dir_);
    if (resumed_ && !FileSystem::ForPath(graph).Exists(graph)) {
      WriteGraph(session.graph(), model_dir_, *events_);
    }
  }

 private:
  const std::string model_dir_;
  const std::optional<int64_t> resumed_;
  std::optional<EventWriter>& events_;
};

// A loss that is no number ends the process with a code of its own.
class NoteDivergence : public train::Hook {
 public:
  explicit NoteDivergence(Output loss) : loss_(loss) {}
  void BeforeRun(train::RunContext& run) override { run.Fetch(loss_); }
  void AfterRun(train::RunContext& run) override {
    if (std::isnan(run.Value(loss_).AsDouble())) NoteExitCode(kExitDiverged);
  }

 private:
  const Output loss_;
};

// Calls the function when the session is there, before anything is written.
class CallWhenCreated : public train::Hook {
 public:
  explicit CallWhenCreated(std::function<void()> fn) : fn_(std::move(fn)) {}
  void AfterCreateSession(Session&) override { fn_(); }

 private:
  const std::function<void()> fn_;
};

void AddLossSummary(Output loss) {
  const Graph& graph = CurrentGraph();
  for (const Output& summary : graph.Collection(kSummaries)) {
    if (summary.node()->name() == "loss" || summary.node()->name().starts_with("loss/")) return;
  }
  const NameScope root("");
  summaries::Scalar("loss", loss);
}

train::HookRef WatchLoss(Output loss, const RunConfig& config, std::optional<EventWriter>& events) {
  if (config.nan_rewinds <= 0) return train::StopOnNan(loss);
  return train::RewindOnNan(loss, config.model_dir,
                            {.times = config.nan_rewinds, .after = [&events](int64_t step) {
                               events->AddSessionStart(step + 1);
                             }});
}

// Saves what is done and says so. An error, not a result: whatever follows a training must not
// follow half of one unawares.
[[noreturn]] void EndCancelled(const RunConfig& config, train::MonitoredSession& session,
                               Cluster* cluster, std::optional<EventWriter>& events) {
  if (cluster != nullptr) cluster->Drain(kSaveTime);
  const int64_t step = session.global_step();
  const std::string path = session.SaveLast();
  if (events) events->Close();
  throw Error(Code::kCancelled,
              fmt::format("{} at step {}: {}", config.cancellation->status().message(), step,
                          path.empty() ? "no checkpoints are saved"
                                       : "saved " + path +
                                             "; run the same training again to go on from there"));
}

struct StepsEnd {
  Tensor loss;  // of the last step, if there was one
  bool data_ended = false;
};
// Until it stops or the data ends. Data that begins here must have a batch.
StepsEnd RunSteps(train::MonitoredSession& session, const EstimatorSpec& spec,
                  const std::function<bool()>& may_have_been_read) {
  Tensor loss;
  try {
    while (!session.ShouldStop()) {
      CancellationScope::ThrowIfCancelled();
      loss = session.Run({spec.loss}, {}, {spec.train_op})[0];
    }
  } catch (const Error& e) {
    if (e.code() != Code::kOutOfRange) throw;
    if (!loss.valid() && !may_have_been_read()) ThrowNoBatch();
    return {loss, !session.ShouldStop()};
  }
  return {loss, false};
}

std::vector<train::HookRef> HooksOf(const ModelGraph& model, const RunConfig& config,
                                    const TrainOptions& options, std::optional<int64_t> resumed,
                                    const TrainingInput& handling,
                                    std::optional<EventWriter>& events) {
  const bool writes = !handling.cluster || handling.cluster->is_chief();
  const EstimatorSpec& spec = model.spec;
  const train::Every log{.steps = config.log_step_count_steps};
  std::vector<train::HookRef> hooks;
  if (model.input_iterator) {
    const bool begins = !resumed || handling.begin_ended_anew;
    hooks.push_back(
        train::AwaitInput(model.input_iterator, {.elements = model.batches_of_step,
                                                 .token = config.cancellation,
                                                 // Others may have taken all there is.
                                                 .refuse_unusable = !handling.cluster && begins,
                                                 .begin_ended_anew = handling.begin_ended_anew}));
    if (!handling.cluster && !begins)
      hooks.push_back(CheckResumedInput(model, config.cancellation));
  }
  if (handling.found) hooks.push_back(std::make_shared<CallWhenCreated>(handling.found));
  if (writes) hooks.push_back(std::make_shared<BeginEvents>(config, resumed, &events));
  if (handling.cluster) hooks.push_back(std::make_shared<NoteDivergence>(spec.loss));
  hooks.push_back(WatchLoss(spec.loss, config, events));
  if (options.steps) hooks.push_back(train::StopAfterSteps(*options.steps));
  if (options.max_steps) hooks.push_back(train::StopAtStep(*options.max_steps));
  hooks.insert(hooks.end(), options.hooks.begin(), options.hooks.end());
  hooks.insert(hooks.end(), spec.training_hooks.begin(), spec.training_hooks.end());
  hooks.push_back(train::LogTensors(
      {{"loss", spec.loss}, {"step", train::GetGlobalStep(model.graph).value()}}, log));
  hooks.push_back(
      train::CountSteps(log, [&events](const std::string& tag, float value, int64_t step) {
        if (events) events->AddScalar(tag, value, step);
      }));
  if (writes && config.save_summary_steps > 0) {
    hooks.push_back(train::SaveSummaries(
        [&events](const std::string& summary, int64_t step) {
          events->AddSerializedSummary(summary, step);
        },
        {.steps = config.save_summary_steps}));
  }
  return hooks;
}

}  // namespace

void DeleteLeftovers(const std::string& model_dir) {
  FileSystem& files = FileSystem::ForPath(model_dir);
  DeleteStaleTemporaries(files, model_dir, "");
  CheckpointJournal(model_dir).CleanUp();
  const std::string exports = JoinPath(model_dir, "export");
  if (!files.Exists(exports)) return;
  for (const std::string& name : files.ListDirectory(exports)) {
    DeleteStaleTemporaries(files, JoinPath(exports, name), "");
  }
}

int64_t RunTraining(const Estimator::State& state, const InputFn& input_fn,
                    const TrainOptions& options, const TrainingInput& handling) {
  CheckOptions(options);
  const RunConfig& config = state.config;
  Cluster* const cluster = handling.cluster.get();
  const bool writes = cluster == nullptr || cluster->is_chief();
  if (writes) DeleteLeftovers(config.model_dir);
  // Others of a cluster do not restore: what is damaged the chief mends, maybe later than this.
  const auto newest = writes ? CheckpointToResume(config.model_dir) : std::nullopt;
  std::optional<int64_t> resumed;
  if (newest) resumed = StepOfCheckpoint(*newest);
  if (cluster == nullptr && options.max_steps && resumed.value_or(0) >= *options.max_steps) {
    LogInfo("Skipping training since max_steps has already saved.");
    return *resumed;
  }
  const CancellationScope cancellable(config.cancellation.get());
  const InputLimitsScope limits(config.session.memory_limit);  // input is awaited between Runs
  const InputFn input =
      handling.cluster ? ShareOutInput(input_fn, config, handling.cluster) : input_fn;
  const std::unique_ptr<ModelGraph> model = BuildModel(state, input, Mode::kTrain);
  const GraphScope use(model->graph);
  AddLossSummary(model->spec.loss);

  std::optional<EventWriter> events;
  train::MonitoredSessionOptions session_options{
      .session = model->session,
      .cluster = handling.cluster,
      .checkpoint_dir = config.model_dir,
      .hooks = HooksOf(*model, config, options, resumed, handling, events),
      .saver = {.max_to_keep = config.keep_checkpoint_max,
                .keep_checkpoint_every_n_hours = config.keep_checkpoint_every_n_hours},
      .checkpoints = {.every = CheckpointInterval(config),
                      .listeners = options.listeners,
                      .before_save = [&] { events->Flush(); },
                      .after_save =
                          [&](const train::SavedCheckpoint& saved) {
                            if (saved.first) WriteGraph(model->graph, config.model_dir, *events);
                            events->AddSessionCheckpoint(saved.path, saved.step);
                          }}};
  const train::Every& every = session_options.checkpoints.every;
  if (writes && (every.steps > 0 || every.seconds > 0)) LogInfo("Create CheckpointSaverHook.");
  if (!newest) {
    session_options.after_init = [&](Session& session) {
      ApplyWarmStart(state.warm_start, session);
    };
  }
  if (cluster != nullptr) {
    session_options.place = [&](Graph& graph) { PlaceInCluster(graph, config); };
    session_options.after_rollback = [&](int64_t step) { events->AddSessionStart(step + 1); };
  }
  train::MonitoredSession session(model->graph, std::move(session_options));
  if (!session.joined()) {
    LogInfo("The training had ended before this task joined it.");
    const auto last = CheckpointToResume(config.model_dir);
    return last ? StepOfCheckpoint(*last) : 0;
  }
  // Here by a process before, or by others. Where no position is kept it begins anew, as queues do.
  const auto may_have_been_read = [&] {
    return cluster != nullptr ||
           (newest && !data::SaveIteratorStates(session.session().resources()).empty());
  };
  try {
    const StepsEnd end = RunSteps(session, model->spec, may_have_been_read);
    if (cluster != nullptr) EndInCluster(*cluster, session, end.data_ended);
    session.Close();
    if (events) events->Close();
    if (end.loss.valid()) LogInfo("Loss for final step: {:g}.", end.loss.AsDouble());
  } catch (const Error& e) {
    const bool cancelled = config.cancellation && config.cancellation->cancelled();
    if (!cancelled || e.code() != Code::kCancelled) throw;
    EndCancelled(config, session, cluster, events);
  }
  return session.global_step();
}

}  // namespace sextant
