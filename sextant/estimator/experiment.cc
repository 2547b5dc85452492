#include "sextant/estimator/experiment.h"

#include "sextant/base/error.h"
#include "sextant/estimator/cluster_roles.h"
#include "sextant/estimator/evaluator_role.h"

namespace sextant {
namespace {

EvalResult Evaluate(const Experiment& experiment, const InputFn& input, const std::string& name) {
  Estimator estimator = experiment.estimator;
  return estimator.Evaluate(
      input, {.steps = experiment.eval_steps, .hooks = experiment.eval_hooks, .name = name});
}

EvalResult Train(const Experiment& experiment) {
  Estimator estimator = experiment.estimator;
  estimator.Train(experiment.train_input_fn,
                  {.max_steps = experiment.train_steps, .hooks = experiment.train_hooks});
  return {};
}

EvalResult TrainThenEvaluate(const Experiment& experiment) {
  if (experiment.min_eval_frequency == 0 && experiment.exporters.empty()) {
    Train(experiment);
    return Evaluate(experiment, experiment.eval_input_fn, "");
  }
  const TrainSpec train{experiment.train_input_fn, experiment.train_steps, experiment.train_hooks};
  const EvalSpec eval{.input_fn = experiment.eval_input_fn,
                      .steps = experiment.eval_steps,
                      .hooks = experiment.eval_hooks,
                      .exporters = experiment.exporters,
                      .throttle_secs = 0,
                      .throttle_steps = experiment.min_eval_frequency};
  EvalResult metrics = TrainAndEvaluate(experiment.estimator, train, eval).metrics;
  // A training that ended in an earlier call is evaluated again, as an Experiment does.
  const bool local = experiment.estimator.config().task.local();
  return metrics.empty() && local ? Evaluate(experiment, experiment.eval_input_fn, "") : metrics;
}

EvalResult EvaluateContinuously(const Experiment& experiment, const InputFn& input,
                                const std::string& name) {
  const EvalSpec eval{.input_fn = input,
                      .steps = experiment.eval_steps,
                      .name = name,
                      .hooks = experiment.eval_hooks,
                      .start_delay_secs = experiment.eval_delay_secs,
                      .throttle_secs = experiment.continuous_eval_throttle_secs};
  const TrainSpec train{.input_fn = experiment.train_input_fn, .max_steps = experiment.train_steps};
  return RunEvaluator(experiment.estimator, train, eval).metrics;
}

EvalResult Test(Experiment experiment) {
  experiment.estimator.Train(experiment.train_input_fn,
                             {.steps = 1, .hooks = experiment.train_hooks});
  experiment.eval_steps = 1;
  return Evaluate(experiment, experiment.eval_input_fn, "");
}

void CheckExperiment(const Experiment& experiment) {
  if (!experiment.train_input_fn) throw InvalidArgument("Experiment.train_input_fn is not set");
  if (!experiment.eval_input_fn) throw InvalidArgument("Experiment.eval_input_fn is not set");
  if (experiment.min_eval_frequency < 0 || experiment.eval_delay_secs < 0 ||
      experiment.continuous_eval_throttle_secs < 0) {
    throw InvalidArgument("an Experiment's frequency, delay and throttle must not be negative");
  }
}

}  // namespace

EvalResult RunSchedule(const Experiment& experiment, const std::string& schedule) {
  CheckExperiment(experiment);
  if (schedule == "run_std_server") {
    ServeParameters(experiment.estimator.config(), experiment.train_steps);
    return {};
  }
  if (schedule == "train") return Train(experiment);
  if (schedule == "evaluate") return Evaluate(experiment, experiment.eval_input_fn, "");
  if (schedule == "train_and_evaluate") return TrainThenEvaluate(experiment);
  if (schedule == "continuous_eval") {
    return EvaluateContinuously(experiment, experiment.eval_input_fn, "continuous");
  }
  if (schedule == "continuous_eval_on_train_data") {
    return EvaluateContinuously(experiment, experiment.train_input_fn, "continuous_on_train_data");
  }
  if (schedule == "test") return Test(experiment);
  throw InvalidArgument(
      "there is no schedule '{}'; there are train, evaluate, train_and_evaluate, continuous_eval, "
      "continuous_eval_on_train_data, test and run_std_server",
      schedule);
}

std::string DefaultSchedule(const dist::Task& task) {
  if (task.local() || task.type == "master" || task.type == "chief") {
    return "train_and_evaluate";
  }
  if (task.type == "worker") return "train";
  if (task.type == "ps") return "run_std_server";
  if (task.type == "evaluator") return "continuous_eval";
  throw InvalidArgument("a task of type '{}' has no schedule; name one", task.type);
}

EvalResult RunExperiment(const ExperimentFn& make, const RunConfig& config, const HParams& params,
                         const std::string& schedule) {
  const Experiment experiment = make(config, params);
  const std::string chosen =
      schedule.empty() ? DefaultSchedule(experiment.estimator.config().task) : schedule;
  return RunSchedule(experiment, chosen);
}

}  // namespace sextant
