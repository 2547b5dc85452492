#include "sextant/models/registry.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"

namespace sextant::models {

const std::vector<RegisteredModel>& RegisteredModels() {
  static const std::vector<RegisteredModel> models = {
      Cifar10Resnet(), Cifar10Simple(), CensusDnn(),     CensusLinear(),
      MnistConvnet(),  Autoencoder(),   CensusWideDeep()};
  return models;
}

const RegisteredModel& FindModel(std::string_view name) {
  std::vector<std::string> names;
  for (const RegisteredModel& model : RegisteredModels()) {
    if (model.name == name) return model;
    names.push_back(model.name);
  }
  throw NotFound("there is no model '{}'{}", name, DidYouMeanOneOf(name, names));
}

HParams DefaultParams(const RegisteredModel& model) {
  HParams params;
  for (const ModelParam& param : model.params) params.Set(param.name, param.value);
  return params;
}

void CheckParams(const RegisteredModel& model, const HParams& params) {
  for (const ModelParam& param : model.params) {
    const auto found = params.values().find(param.name);
    if (found != params.values().end()) CheckLimits(param.name, found->second, param.limits);
  }
}

ServingInputFn FindReceiver(const RegisteredModel& model, const HParams& params,
                            std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [key, make] : model.receivers) {
    if (name.empty() || key == name) return make(params);
    names.push_back(key);
  }
  throw NotFound("model {} has no receiver '{}'{}", model.name, name, DidYouMeanOneOf(name, names));
}

int64_t BatchPerDevice(const HParams& params, const char* param, const ModelData& data) {
  const auto batch = params.Get<int64_t>(param);
  if (batch < 1) throw InvalidArgument("{} must be at least 1, not {}", param, batch);
  if (batch % data.devices != 0) {
    throw InvalidArgument("{} {} is no multiple of the {} devices; try {}", param, batch,
                          data.devices,
                          std::max<int64_t>(batch - batch % data.devices, data.devices));
  }
  return batch / data.devices;
}

std::vector<ModelParam> UsualParams(int64_t train_steps, int64_t eval_steps, int64_t train_batch,
                                    int64_t eval_batch, const std::string& rows) {
  constexpr int64_t kMostSteps = int64_t{1} << 53;
  constexpr int64_t kMostRows = 1 << 24;
  return {
      {"train_steps", train_steps, "train until this step", Between(1, kMostSteps)},
      {"eval_steps", eval_steps, "batches of an evaluation; 0: all data", Between(0, kMostSteps)},
      {"train_batch_size", train_batch, rows + " of a training step", Between(1, kMostRows)},
      {"eval_batch_size", eval_batch, rows + " of an evaluation step", Between(1, kMostRows)}};
}

}  // namespace sextant::models
