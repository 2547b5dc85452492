#include "sextant/estimator/estimator.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/cluster_roles.h"
#include "sextant/estimator/evaluation.h"
#include "sextant/estimator/model_dir_lock.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/estimator/training.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"

namespace sextant {

Estimator::Estimator(ModelFn model_fn, RunConfig config, HParams params, WarmStart warm_start)
    : state_(std::make_shared<State>(State{std::move(model_fn), Resolve(std::move(config)),
                                           std::move(params), std::move(warm_start)})) {
  if (!state_->model_fn) throw InvalidArgument("an Estimator needs a model function");
  LogInfo("Using config: {}", Describe(state_->config));
}

const RunConfig& Estimator::config() const { return state_->config; }
const HParams& Estimator::params() const { return state_->params; }
const ModelFn& Estimator::model_fn() const { return state_->model_fn; }

int64_t Estimator::Train(const InputFn& input_fn, const TrainOptions& options) {
  if (!state_->config.task.local()) return TrainInCluster(*state_, input_fn, options);
  const ModelDirLock lock(model_dir(), state_->config.cancellation.get());
  return RunTraining(*state_, input_fn, options, {.begin_ended_anew = true});
}

EvalResult Estimator::Evaluate(const InputFn& input_fn, const EvaluateOptions& options) {
  const std::string path = CheckpointOf(*state_, options.checkpoint_path);
  return Evaluation(*state_, input_fn, options).OfCheckpoint(path);
}

std::string Estimator::ExportSavedModel(const std::string& base_dir, const ServingInputFn& receiver,
                                        const SavedModelExportOptions& options) {
  return ExportToNew("", base_dir, [&](const std::string& directory) {
    ExportTo(*state_, directory, receiver, options);
  });
}

std::optional<std::string> Estimator::LatestCheckpoint() const {
  return sextant::LatestCheckpoint(model_dir());
}

std::vector<std::string> Estimator::VariableNames() const {
  std::vector<std::string> names;
  for (const BundleTensorInfo& info : TensorBundleReader(CheckpointOf(*state_, "")).Tensors()) {
    names.push_back(info.name);
  }
  return names;
}

Tensor Estimator::VariableValue(const std::string& name) const {
  return TensorBundleReader(CheckpointOf(*state_, "")).Read(name);
}

}  // namespace sextant
