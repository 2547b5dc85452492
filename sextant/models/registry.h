// Models by name, each with its data: what `sextant train|eval|predict|export` offers.
//
//   const RegisteredModel& model = FindModel("wide_deep");
//   HParams params = DefaultParams(model);
//   params.Parse("train_batch_size=128");
//   Estimator estimator(model.model_fn(params), {.model_dir = "runs/census"}, params);
//   estimator.Train([&] { return model.train_input(params, {}); }, {.max_steps = 1000});
//
// Every model has the parameters train_steps, eval_steps (0: all the data), train_batch_size and
// eval_batch_size beside its own (UsualParams). A new model is a function in a registered_*.cc and
// a line in registry.cc.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/input_fn.h"
#include "sextant/estimator/model_fn.h"
#include "sextant/estimator/serving_input.h"
#include "sextant/models/param_limits.h"

#pragma GCC visibility push(default)

namespace sextant::models {

// Where the data of a run is.
struct SEXTANT_API ModelData {
  std::string folder = {};                    // "": that of the data set, as data/*.h say
  std::vector<std::string> train_files = {};  // paths and patterns, instead of the folder's
  std::vector<std::string> eval_files = {};
  std::optional<int64_t> seed = {};  // of shuffling and distortion; none: different every time
  int64_t devices = 1;               // that share a batch
};

struct SEXTANT_API ModelParam {
  std::string name;      // on the command line
  HParams::Value value;  // the default
  std::string help;      // one line
  ParamLimits limits = {};
};

struct SEXTANT_API RegisteredModel {
  std::string name;                // on the command line
  std::string description;         // one line
  std::string data_set;            // `sextant data DATA_SET` makes it; "": the model does
  std::vector<ModelParam> params;  // its flags
  // Throw INVALID_ARGUMENT, naming the parameter, for one that does not fit.
  std::function<ModelFn(const HParams&)> model_fn;
  // Batches: train for ever, eval once through the data.
  std::function<Input(const HParams&, const ModelData&)> train_input;
  std::function<Input(const HParams&, const ModelData&)> eval_input;
  // Serving inputs of an exported model, by name; the first is the default.
  std::vector<std::pair<std::string, std::function<ServingInputFn(const HParams&)>>> receivers;
};

// Sorted by name.
const std::vector<RegisteredModel>& RegisteredModels();
// Throws NOT_FOUND, naming the one most like it and the models there are.
const RegisteredModel& FindModel(std::string_view name);
HParams DefaultParams(const RegisteredModel& model);
// Throws INVALID_ARGUMENT, naming the parameter, for one outside its limits.
void CheckParams(const RegisteredModel& model, const HParams& params);
// Throws NOT_FOUND, naming the receivers there are. "": the default.
ServingInputFn FindReceiver(const RegisteredModel& model, const HParams& params,
                            std::string_view name);

// The rows of a batch that each device takes. Throws INVALID_ARGUMENT, with the nearest batch that
// fits, when the devices do not divide it.
int64_t BatchPerDevice(const HParams& params, const char* param, const ModelData& data);

// The parameters that every model has; `rows` is what a batch is made of.
std::vector<ModelParam> UsualParams(int64_t train_steps, int64_t eval_steps, int64_t train_batch,
                                    int64_t eval_batch, const std::string& rows);

// The models there are.
RegisteredModel CensusWideDeep();
RegisteredModel CensusLinear();
RegisteredModel CensusDnn();
RegisteredModel MnistConvnet();
RegisteredModel Cifar10Resnet();
RegisteredModel Cifar10Simple();
RegisteredModel Autoencoder();

}  // namespace sextant::models

#pragma GCC visibility pop
