// Which model a model_dir belongs to: `sextant train` writes it down in
// model_dir/sextant_model.json, so that eval, predict and export need to be told nothing but the
// directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sextant/models/registry.h"
#include "sextant/train/hooks.h"

namespace sextant::cli {

struct TrainedModel {
  const models::RegisteredModel* model = nullptr;
  HParams params;
  std::optional<int64_t> seed = {};  // of the training
};

// The seed of the training in the directory, if there is one that had a seed.
std::optional<int64_t> SeedOfTraining(const std::string& model_dir);

// Throws FAILED_PRECONDITION when the directory has a checkpoint of another model, or of a training
// with another seed, which could not go on; DATA_LOSS when it cannot be told which.
void CheckTrainedModel(const std::string& model_dir, const TrainedModel& trained);

// Writes it down when the session of a training is there: one that is refused, or that cannot go on
// from the checkpoint, leaves the directory as it was. Then throws what CheckTrainedModel throws.
train::HookRef NoteTrainedModel(std::string model_dir, TrainedModel trained);

// `name` and `hparams` ("a=1,b=2") are for directories that something else made, and change
// parameters of others. Throws NOT_FOUND when there is no such directory, FAILED_PRECONDITION when
// it does not say which model it holds and no name is given.
TrainedModel ReadTrainedModel(const std::string& model_dir, const std::string& name = {},
                              const std::string& hparams = {});

// Sets a parameter from the text of a flag: lists are "100,50". Throws INVALID_ARGUMENT.
void SetParam(HParams& params, const std::string& name, const std::string& text);

}  // namespace sextant::cli
