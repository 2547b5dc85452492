// Models by name: ResNet, Simple. A new one is a class and a line in models.cc.
#pragma once

#include "boilerplate/models/model_interface.h"

namespace boilerplate {

std::vector<std::string> ModelNames();
// Throws INVALID_ARGUMENT, saying why, when the model cannot take the images of the data set.
// REQUIRES: a name of these.
std::unique_ptr<ModelInterface> MakeModel(const std::string& name, const std::string& dataset,
                                          const ImageShape& images);

}  // namespace boilerplate
