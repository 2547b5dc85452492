#include "sextant/estimator/training.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/event_writer.h"
#include "sextant/formats/message_text.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/meta_graph.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/summaries.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/train/global_step.h"
#include "sextant/train/interrupt.h"
#include "sextant/train/monitored_session.h"
#include "sextant/train/rewind_on_nan.h"

namespace sextant {
namespace {

void CheckOptions(const Estimator::State& state, const TrainOptions& options) {
  if (options.steps && options.max_steps) {
    throw InvalidArgument("a training takes steps ({}) or max_steps ({}), not both", *options.steps,
                          *options.max_steps);
  }
  if (options.steps.value_or(1) <= 0 || options.max_steps.value_or(1) <= 0) {
    throw InvalidArgument("a training needs at least 1 step, not {}",
                          options.steps ? *options.steps : *options.max_steps);
  }
  const std::string& type = state.config.task.type;
  if (type == "ps" || type == "evaluator") {
    throw InvalidArgument("a task of type {} does not train; its TF_CONFIG says what it is", type);
  }
  if (!state.config.task.local()) {
    throw Unimplemented("clusters are not run yet; unset TF_CONFIG to train in this process");
  }
}

train::Every CheckpointInterval(const RunConfig& config) {
  if (config.save_checkpoints_steps) return {.steps = *config.save_checkpoints_steps};
  return {.seconds = config.save_checkpoints_secs.value_or(600)};
}

// The graph, for people and for TensorBoard.
void WriteGraph(const Graph& graph, const std::string& model_dir, EventWriter& events) {
  const proto::GraphDef def = ExportGraphDef(graph);
  const std::string path = JoinPath(model_dir, "graph.pbtxt");
  FileSystem::ForPath(path).WriteFileAtomically(path, MessageText(def));
  events.AddGraph(def.SerializeAsString());
}

void AddLossSummary(Output loss) {
  const Graph& graph = CurrentGraph();
  for (const Output& summary : graph.Collection(kSummaries)) {
    if (summary.node()->name() == "loss" || summary.node()->name().starts_with("loss/")) return;
  }
  const NameScope root("");
  summaries::Scalar("loss", loss);
}

train::HookRef WatchLoss(Output loss, const RunConfig& config, EventWriter& events) {
  if (config.nan_rewinds <= 0) return train::StopOnNan(loss);
  return train::RewindOnNan(loss, config.model_dir,
                            {.times = config.nan_rewinds, .after = [&events](int64_t step) {
                               events.AddSessionStart(step + 1);
                             }});
}

// Saves what is done. The process ends here: whatever follows a training must not run after half of
// one.
[[noreturn]] void EndInterrupted(train::MonitoredSession& session, EventWriter& events) {
  const int64_t step = session.global_step();
  const std::string path = session.SaveLast();
  events.Close();
  train::ExitInterrupted(
      step, path.empty() ? "no checkpoints are saved"
                         : "saved " + path + "; run the same command again to go on from there");
}

}  // namespace

int64_t RunTraining(const Estimator::State& state, const InputFn& input_fn,
                    const TrainOptions& options) {
  CheckOptions(state, options);
  const RunConfig& config = state.config;
  const auto newest = LatestCheckpoint(config.model_dir);
  const int64_t start = newest ? StepOfCheckpoint(*newest) : 0;
  if (options.max_steps && newest && start >= *options.max_steps) {
    LogInfo("Skipping training since max_steps has already saved.");
    return start;
  }
  FileSystem::ForPath(config.model_dir).CreateDirectories(config.model_dir);
  const std::unique_ptr<ModelGraph> model = BuildModel(state, input_fn, Mode::kTrain);
  const GraphScope use(model->graph);
  const EstimatorSpec& spec = model->spec;
  AddLossSummary(spec.loss);

  EventWriter events(config.model_dir);
  // What an earlier process wrote behind the checkpoint that this one goes on from is made again.
  events.AddSessionStart(start + 1);
  const train::Every log{.steps = config.log_step_count_steps};
  std::vector<train::HookRef> hooks = {WatchLoss(spec.loss, config, events)};
  if (options.steps) hooks.push_back(train::StopAfterSteps(*options.steps));
  if (options.max_steps) hooks.push_back(train::StopAtStep(*options.max_steps));
  hooks.insert(hooks.end(), options.hooks.begin(), options.hooks.end());
  hooks.insert(hooks.end(), spec.training_hooks.begin(), spec.training_hooks.end());
  hooks.push_back(train::LogTensors(
      {{"loss", spec.loss}, {"step", train::GetGlobalStep(model->graph).value()}}, log));
  hooks.push_back(train::CountSteps(log, [&](const std::string& tag, float value, int64_t step) {
    events.AddScalar(tag, value, step);
  }));
  if (config.save_summary_steps > 0) {
    hooks.push_back(
        train::SaveSummaries([&](const std::string& summary,
                                 int64_t step) { events.AddSerializedSummary(summary, step); },
                             {.steps = config.save_summary_steps}));
  }

  train::MonitoredSessionOptions session_options{
      .session = model->session,
      .checkpoint_dir = config.model_dir,
      .hooks = hooks,
      .saver = {.max_to_keep = config.keep_checkpoint_max,
                .keep_checkpoint_every_n_hours = config.keep_checkpoint_every_n_hours},
      .checkpoints = {.every = CheckpointInterval(config),
                      .listeners = options.listeners,
                      .before_save = [&] { events.Flush(); },
                      .after_save =
                          [&](const train::SavedCheckpoint& saved) {
                            if (saved.first) WriteGraph(model->graph, config.model_dir, events);
                            events.AddSessionCheckpoint(saved.path, saved.step);
                          }}};
  if (!newest) {
    session_options.after_init = [&](Session& session) {
      ApplyWarmStart(state.warm_start, session);
    };
  }
  const InterruptScope interruptible;
  train::MonitoredSession session(model->graph, std::move(session_options));
  Tensor loss;
  try {
    while (!session.ShouldStop()) {
      if (Interrupted()) EndInterrupted(session, events);
      loss = session.Run({spec.loss}, {}, {spec.train_op})[0];
    }
  } catch (const Error& e) {
    if (e.code() != Code::kOutOfRange) throw;
    if (!loss.valid() && !newest) {
      throw InvalidArgument("the training input gave no batch; is the data empty?");
    }
  }
  session.Close();
  events.Close();
  if (loss.valid()) LogInfo("Loss for final step: {:g}.", loss.AsDouble());
  return session.global_step();
}

}  // namespace sextant
