// Data sets by name: CIFAR10, MNIST. A new one is a class and a line in datasets.cc.
#pragma once

#include "boilerplate/datasets/dataset_interface.h"

namespace boilerplate {

std::vector<std::string> DatasetNames();
// REQUIRES: a name of these.
std::unique_ptr<DatasetInterface> MakeDataset(const std::string& name,
                                              const DatasetOptions& options);

}  // namespace boilerplate
