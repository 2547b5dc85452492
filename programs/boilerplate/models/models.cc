#include "boilerplate/models/models.h"

#include <functional>
#include <map>

#include "boilerplate/models/resnet.h"
#include "boilerplate/models/simple_net.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

using Make = std::function<std::unique_ptr<ModelInterface>()>;

const std::map<std::string, Make>& Models() {
  static const std::map<std::string, Make> models = {
      {"ResNet", [] { return std::make_unique<ResNet>(); }},
      {"Simple", [] { return std::make_unique<SimpleNet>(); }}};
  return models;
}

}  // namespace

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Models()) names.push_back(name);
  return names;
}

std::unique_ptr<ModelInterface> MakeModel(const std::string& name, const std::string& dataset,
                                          const ImageShape& images) {
  std::unique_ptr<ModelInterface> model = Models().at(name)();
  if (const std::string why = model->WhyNot(images); !why.empty()) {
    throw sx::InvalidArgument("model {} does not fit data set {}, images of {}x{}x{}: {}", name,
                              dataset, images.height, images.width, images.channels, why);
  }
  return model;
}

}  // namespace boilerplate
