// TrainAndEvaluate: trains, evaluates at checkpoints and exports, in one process or in a cluster: a
// process that TF_CONFIG makes a task of one does its part (cluster_roles.h).
//
//   TrainAndEvaluate(estimator, {.input_fn = train, .max_steps = 6000},
//                    {.input_fn = test, .exporters = {FinalExporter("mnist", receiver)}});
//
// After every checkpoint but the first the model is evaluated, in the same process and with the
// same weights, unless the throttle says otherwise, and at the end. Killed at any moment, the same
// call goes on: the model, its events, evaluations and exports are as if nothing had happened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/estimator.h"
#include "sextant/estimator/exporter.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API TrainSpec {
  InputFn input_fn;                       // called anew for each iteration
  std::optional<int64_t> max_steps = {};  // of the global step; none: until the data ends
  std::vector<train::HookRef> hooks = {};
};

struct SEXTANT_API EvalSpec {
  InputFn input_fn;                    // called anew for each iteration
  std::optional<int64_t> steps = 100;  // batches; none: all there are
  std::string name = {};               // results go to model_dir/eval_NAME, else eval
  std::vector<train::HookRef> hooks = {};
  std::vector<ExporterRef> exporters = {};
  // If given, the checkpoint of the best evaluation is kept beside the newest ones, e.g. by
  // Larger("accuracy").
  BetterFn keep_best = {};
  double start_delay_secs = 120;  // of an evaluator, before its first evaluation
  double throttle_secs = 600;     // least time between evaluations
  int64_t throttle_steps = 0;     // and least number of steps
};

struct SEXTANT_API TrainAndEvaluateResult {
  int64_t global_step = 0;
  // Of the last evaluation; empty when the training had been finished before.
  EvalResult metrics;
  std::vector<std::string> exports;  // of the last evaluation
};

// Throws INVALID_ARGUMENT, naming the field, for specs out of range, FAILED_PRECONDITION when
// another process trains in the model_dir, and before the first step what the input of the
// evaluation is found to lack, e.g. NOT_FOUND for a file.
TrainAndEvaluateResult TrainAndEvaluate(const Estimator& estimator, const TrainSpec& train,
                                        const EvalSpec& eval);

}  // namespace sextant

#pragma GCC visibility pop
