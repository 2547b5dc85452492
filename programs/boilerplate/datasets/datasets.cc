#include "boilerplate/datasets/datasets.h"

#include <functional>
#include <map>

#include "boilerplate/datasets/cifar10.h"
#include "boilerplate/datasets/mnist.h"

namespace boilerplate {
namespace {

using Make = std::function<std::unique_ptr<DatasetInterface>(const DatasetOptions&)>;

const std::map<std::string, Make>& Datasets() {
  static const std::map<std::string, Make> datasets = {
      {"CIFAR10", [](const DatasetOptions& options) { return std::make_unique<Cifar10>(options); }},
      {"MNIST", [](const DatasetOptions& options) { return std::make_unique<Mnist>(options); }}};
  return datasets;
}

}  // namespace

std::vector<std::string> DatasetNames() {
  std::vector<std::string> names;
  for (const auto& [name, make] : Datasets()) names.push_back(name);
  return names;
}

std::unique_ptr<DatasetInterface> MakeDataset(const std::string& name,
                                              const DatasetOptions& options) {
  return Datasets().at(name)(options);
}

}  // namespace boilerplate
