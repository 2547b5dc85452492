// The model function of every model: loss, training step, metrics and predictions from logits.
#pragma once

#include "boilerplate/models/model_interface.h"

namespace boilerplate {

// Scalars of the training graph by the names of their nodes, which hooks log.
inline constexpr const char* kLoggedTensors[] = {"learning_rate", "cross_entropy",
                                                 "train_accuracy"};

sextant::ModelFn MakeModelFn(std::shared_ptr<const ModelInterface> model, int64_t classes);

// Images of 0 … 255 in "image", made what the data set gives; for an exported model.
sextant::ServingInputFn ServingImages(const ImageShape& shape);

}  // namespace boilerplate
