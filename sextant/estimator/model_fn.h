// What a model function takes and gives.
//
//   EstimatorSpec ModelFn(const ModelFnArgs& args) {
//     auto logits = layers::Dense(args.features["x"], {.units = 10});
//     return heads::MultiClass(10).Spec(args, logits, train::Adam({.learning_rate = 1e-3f}));
//   }
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/estimator/hparams.h"
#include "sextant/estimator/run_config.h"
#include "sextant/graph/output.h"
#include "sextant/nn/features.h"
#include "sextant/nn/metric.h"
#include "sextant/train/hook.h"

namespace sextant {

enum class Mode { kTrain, kEval, kPredict };

struct ModelFnArgs {
  Features features;
  Features labels;  // empty when predicting
  Mode mode = Mode::kTrain;
  const HParams& params;
  const RunConfig& config;
};

// One signature of an exported model.
struct ExportOutput {
  enum class Kind { kPredict, kClassify, kRegress };
  Kind kind = Kind::kPredict;
  std::vector<std::pair<std::string, Output>>
      outputs;  // classify: scores, classes; regress: outputs
};

struct EstimatorSpec {
  Mode mode = Mode::kTrain;
  Output loss;
  Operation train_op;
  std::vector<std::pair<std::string, Output>> predictions;
  NamedMetrics eval_metrics;
  std::vector<std::pair<std::string, ExportOutput>> export_outputs;
  std::vector<std::shared_ptr<train::Hook>> training_hooks;
  std::vector<std::shared_ptr<train::Hook>> evaluation_hooks;
};

using ModelFn = std::function<EstimatorSpec(const ModelFnArgs&)>;

}  // namespace sextant
