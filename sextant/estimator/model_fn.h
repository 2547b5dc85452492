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

#include "sextant/estimator/hparams.h"
#include "sextant/estimator/run_config.h"
#include "sextant/graph/output.h"
#include "sextant/nn/features.h"
#include "sextant/nn/metric.h"
#include "sextant/train/hooks.h"

namespace sextant {

enum class Mode { kTrain, kEval, kPredict };

struct ModelFnArgs {
  Features features;
  Features labels;  // empty when predicting
  Mode mode = Mode::kTrain;
  const HParams& params;
  const RunConfig& config;
};

using NamedOutputs = std::vector<std::pair<std::string, Output>>;

// One signature of an exported model.
struct ExportOutput {
  enum class Kind { kPredict, kClassify, kRegress };
  Kind kind = Kind::kPredict;
  NamedOutputs outputs;  // classify: "scores", "classes"; regress: "outputs"
};

struct EstimatorSpec {
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
