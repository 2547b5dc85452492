#include "sextant/models/registry.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::models {

const std::vector<RegisteredModel>& RegisteredModels() {
  static const std::vector<RegisteredModel> models = {Cifar10Resnet(), Cifar10Simple(),
                                                      CensusDnn(),     CensusLinear(),
                                                      MnistConvnet(),  CensusWideDeep()};
  return models;
}

const RegisteredModel& FindModel(std::string_view name) {
  std::string names;
  for (const RegisteredModel& model : RegisteredModels()) {
    if (model.name == name) return model;
    names += (names.empty() ? "" : ", ") + model.name;
  }
  throw NotFound("there is no model '{}'; there are {}", name, names);
}

HParams DefaultParams(const RegisteredModel& model) {
  HParams params;
  for (const ModelParam& param : model.params) params.Set(param.name, param.value);
  return params;
}

ServingInputFn FindReceiver(const RegisteredModel& model, const HParams& params,
                            std::string_view name) {
  std::string names;
  for (const auto& [key, make] : model.receivers) {
    if (name.empty() || key == name) return make(params);
    names += (names.empty() ? "" : ", ") + key;
  }
  throw NotFound("model {} has no receiver '{}'; it has {}", model.name, name, names);
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

}  // namespace sextant::models
