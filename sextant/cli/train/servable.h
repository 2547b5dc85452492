// A model to predict with, from a SavedModel or from the directory where it was trained.
#pragma once

#include <string>

#include "sextant/cli/train/instances.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::cli {

struct ServableOptions {
  // A SavedModel, a directory of them by number (the newest is taken), or a model_dir.
  std::string path;
  InstanceFormat format = InstanceFormat::kCsv;  // of the instances
  bool with_label = false;                       // rows of CSV have the label too; model_dir only
  std::string model, hparams;                    // as in trained_model.h
};
// Throws NOT_FOUND when there is neither.
SavedModel OpenServable(const ServableOptions& options);

// The one named, else "predict", else "serving_default".
const Signature& ChooseSignature(const SavedModel& model, const std::string& name);

}  // namespace sextant::cli
