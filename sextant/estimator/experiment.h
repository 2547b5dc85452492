// Experiment: an Estimator with its input functions and intervals, run by the name of a schedule,
// as in tf.contrib.learn (2017). New programs call TrainAndEvaluate.
//
//   RunExperiment([](const RunConfig& config, const HParams& params) {
//     return Experiment{.estimator = Estimator(ModelFn, config, params), .train_input_fn = train,
//                       .eval_input_fn = test, .train_steps = 80000};
//   }, {.model_dir = "runs/cifar10"});
//
// Schedules: "train", "evaluate", "train_and_evaluate", "continuous_eval" (each new checkpoint,
// once, until train_steps or the end of a training in a cluster), "continuous_eval_on_train_data",
// "test" (one step of each) and "run_std_server".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/train_and_evaluate.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API Experiment {
  Estimator estimator;                      // what is trained
  InputFn train_input_fn;                   // called once
  InputFn eval_input_fn;                    // called for each evaluation
  std::optional<int64_t> train_steps = {};  // of the global step; none: until the data ends
  std::optional<int64_t> eval_steps = 100;  // batches; none: all there are
  // While training, the least number of steps between evaluations; 0: only one, at the end.
  int64_t min_eval_frequency = 1;
  std::vector<train::HookRef> train_hooks = {};
  std::vector<train::HookRef> eval_hooks = {};
  std::vector<ExporterRef> exporters = {};  // after evaluations of train_and_evaluate
  double eval_delay_secs = 120;             // before the first of continuous_eval
  double continuous_eval_throttle_secs = 60;
};

// The metrics of the last evaluation, if the schedule evaluates; train_and_evaluate also evaluates
// a training that has ended before. Throws INVALID_ARGUMENT for an unknown schedule and for specs
// out of range, tasks of a cluster do what cluster_roles.h says.
EvalResult RunSchedule(const Experiment& experiment, const std::string& schedule);

// What a task does unless told: train_and_evaluate without a cluster, in one of a single task, and
// for "master" and "chief"; train for workers, run_std_server for "ps", continuous_eval for
// "evaluator". Throws INVALID_ARGUMENT for other types.
std::string DefaultSchedule(const dist::Task& task);

using ExperimentFn = std::function<Experiment(const RunConfig& config, const HParams& params)>;
// Makes the experiment and runs it by the schedule, "": the default. Throws as RunSchedule and
// Resolve.
EvalResult RunExperiment(const ExperimentFn& make, const RunConfig& config,
                         const HParams& params = {}, const std::string& schedule = {});

}  // namespace sextant

#pragma GCC visibility pop
