// What a model function takes and gives.
//
//   EstimatorSpec ModelFn(const ModelFnArgs& args) {
//     auto logits = layers::Dense(args.features["x"], {.units = 10});
//     return heads::MultiClass(10).Spec(args, logits, train::Adam({.learning_rate = 1e-3f}));
//   }
//
// It builds in the current graph, once for training, once for evaluation and once for prediction.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/hparams.h"
#include "sextant/estimator/run_config.h"
#include "sextant/graph/output.h"
#include "sextant/nn/features.h"
#include "sextant/nn/metric.h"
#include "sextant/train/hooks.h"

#pragma GCC visibility push(default)

namespace sextant {

enum class Mode { kTrain, kEval, kPredict };

struct SEXTANT_API ModelFnArgs {
  Features features;  // of the batch
  Features labels;    // empty when predicting
  Mode mode = Mode::kTrain;
  const HParams& params;    // of the Estimator
  const RunConfig& config;  // of the Estimator
};

using NamedOutputs = std::vector<std::pair<std::string, Output>>;

// One signature of an exported model.
struct SEXTANT_API ExportOutput {
  enum class Kind { kPredict, kClassify, kRegress };  // the method of its signature
  Kind kind = Kind::kPredict;
  NamedOutputs outputs;  // classify: "scores", "classes"; regress: "outputs"
};

struct SEXTANT_API EstimatorSpec {
  Mode mode = Mode::kTrain;
  Output loss = {};         // training and evaluation: a scalar
  Operation train_op = {};  // training: one step
  NamedOutputs predictions = {};
  NamedMetrics eval_metrics = {};  // beside "loss", which an Estimator adds
  // By name of the signature; "serving_default" is the one that is meant when none is named. Empty:
  // the predictions.
  std::vector<std::pair<std::string, ExportOutput>> export_outputs = {};
  std::vector<train::HookRef> training_hooks = {};
  std::vector<train::HookRef> evaluation_hooks = {};
  std::vector<train::HookRef> prediction_hooks = {};
};

using ModelFn = std::function<EstimatorSpec(const ModelFnArgs&)>;

}  // namespace sextant

#pragma GCC visibility pop
