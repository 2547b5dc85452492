#include "sextant/cli/train/servable.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/cli/train/trained_model.h"
#include "sextant/estimator/estimator.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/formats/saved_model_versions.h"

namespace sextant::cli {
namespace {

const char* ReceiverOf(const models::RegisteredModel& model, const ServableOptions& options) {
  switch (options.format) {
    case InstanceFormat::kCsv:
      return options.with_label ? "csv_with_label" : "csv";
    case InstanceFormat::kExamples:
      return "example";
    case InstanceFormat::kJson:
      break;
  }
  // Models that take numbers as they are have no receiver for JSON of their own.
  const auto has_json = std::any_of(model.receivers.begin(), model.receivers.end(),
                                    [](const auto& receiver) { return receiver.first == "json"; });
  return has_json ? "json" : "raw";
}

// What is trained, as it would be exported for this way of asking.
SavedModel FromModelDir(const ServableOptions& options) {
  const TrainedModel trained = ReadTrainedModel(options.path, options.model, options.hparams);
  const TemporaryDirectory scratch;
  Estimator estimator(trained.model->model_fn(trained.params), {.model_dir = options.path},
                      trained.params);
  const std::string path = estimator.ExportSavedModel(
      scratch.path(),
      models::FindReceiver(*trained.model, trained.params, ReceiverOf(*trained.model, options)));
  return SavedModel::Load(path);
}

}  // namespace

SavedModel OpenServable(const ServableOptions& options) {
  FileSystem& files = FileSystem::ForPath(options.path);
  if (!files.Exists(options.path)) {
    throw NotFound("there is no {}; give a SavedModel or a model_dir", options.path);
  }
  if (!files.Stat(options.path).is_directory) {
    throw InvalidArgument("{} is a file; give the directory of a SavedModel, or a model_dir",
                          options.path);
  }
  if (IsSavedModelDir(options.path)) return SavedModel::Load(options.path);
  const std::vector<SavedModelVersion> exports = ListSavedModelVersions(options.path);
  if (!exports.empty()) return SavedModel::Load(exports.back().path);
  if (LatestCheckpoint(options.path)) return FromModelDir(options);
  throw NotFound("{} holds neither a SavedModel nor a checkpoint; train a model there first",
                 options.path);
}

const Signature& ChooseSignature(const SavedModel& model, const std::string& name) {
  const std::vector<std::string> keys = model.signature_keys();
  if (!name.empty()) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) return model.signature(name);
    throw NotFound("the model has no signature '{}'{}", name, DidYouMeanOneOf(name, keys));
  }
  const bool predicts = std::find(keys.begin(), keys.end(), "predict") != keys.end();
  return model.signature(predicts ? "predict" : "serving_default");
}

}  // namespace sextant::cli
