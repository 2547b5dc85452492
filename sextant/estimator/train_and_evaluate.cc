#include "sextant/estimator/train_and_evaluate.h"

#include <fmt/format.h>

#include <set>

#include "sextant/base/directory_name.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/checkpoint_evaluator.h"
#include "sextant/estimator/cluster_roles.h"
#include "sextant/estimator/model_dir_lock.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/estimator/training.h"

namespace sextant {
namespace {

void CheckSpecs(const TrainSpec& train, const EvalSpec& eval) {
  if (!train.input_fn) throw InvalidArgument("TrainSpec.input_fn is not set");
  if (!eval.input_fn) throw InvalidArgument("EvalSpec.input_fn is not set");
  if (train.max_steps.value_or(1) <= 0) {
    throw InvalidArgument("TrainSpec.max_steps must be greater than 0, not {}", *train.max_steps);
  }
  if (eval.steps.value_or(1) <= 0) {
    throw InvalidArgument("EvalSpec.steps must be greater than 0, not {}", *eval.steps);
  }
  if (eval.start_delay_secs < 0 || eval.throttle_secs < 0 || eval.throttle_steps < 0) {
    throw InvalidArgument("EvalSpec's delays and throttles must not be negative");
  }
  CheckDirectoryName("EvalSpec.name", eval.name);
  std::set<std::string> names;
  for (const ExporterRef& exporter : eval.exporters) {
    if (!exporter) throw InvalidArgument("EvalSpec.exporters has an empty entry");
    CheckDirectoryName("the name of an exporter", exporter->name());
    if (!names.insert(exporter->name()).second) {
      throw InvalidArgument("EvalSpec.exporters has two exporters called '{}'", exporter->name());
    }
  }
}

void LogStart(const RunConfig& config, const EvalSpec& eval) {
  LogInfo("Running training and evaluation locally (non-distributed).");
  if (config.log_style == LogStyle::k2017) {
    LogInfo(
        "Start train and evaluate loop. The evaluate will happen after {:g} secs "
        "(eval_spec.throttle_secs) or training is finished.",
        eval.throttle_secs);
    return;
  }
  const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : "None"; };
  LogInfo(
      "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint "
      "frequency is determined based on RunConfig arguments: save_checkpoints_steps {} or "
      "save_checkpoints_secs {}.",
      text(config.save_checkpoints_steps), text(config.save_checkpoints_secs));
}

}  // namespace

TrainAndEvaluateResult TrainAndEvaluate(const Estimator& estimator, const TrainSpec& train,
                                        const EvalSpec& eval) {
  CheckSpecs(train, eval);
  const RunConfig& config = estimator.config();
  if (config.save_checkpoints_steps.value_or(config.save_checkpoints_secs.value_or(600)) <= 0) {
    throw InvalidArgument(
        "TrainAndEvaluate evaluates checkpoints, but the RunConfig asks for none; set "
        "save_checkpoints_steps or save_checkpoints_secs");
  }
  if (!config.task.local()) return TrainAndEvaluateInCluster(estimator, train, eval);
  const ModelDirLock lock(config.model_dir, config.cancellation.get());
  LogStart(config, eval);
  const auto evaluator = std::make_shared<CheckpointEvaluator>(estimator, train, eval);
  if (const auto newest = CheckpointToResume(config.model_dir)) {
    const int64_t start = StepOfCheckpoint(*newest);
    if (train.max_steps && start >= *train.max_steps) {
      LogInfo("Skipping training since max_steps has already saved.");
      DeleteLeftovers(config.model_dir);
      evaluator->EndWithoutTraining(*newest, start);
      evaluator->result().global_step = start;
      return evaluator->result();
    }
  }
  const int64_t step =
      RunTraining(estimator.state(), train.input_fn,
                  {.max_steps = train.max_steps, .hooks = train.hooks, .listeners = {evaluator}},
                  {.found = [&] { evaluator->Check(); }});
  evaluator->result().global_step = step;
  return evaluator->result();
}

}  // namespace sextant
