// The model function: ResNet in one tower for each device, whose gradients are averaged.
#pragma once

#include "sextant/sextant.h"

namespace cifar10 {

// Parameters: num_layers, num_towers, tower_device ("cpu" or "gpu"), variable_strategy ("CPU" or
// "GPU"), data_format ("channels_first" or "channels_last"), crop_24, train_batch_size,
// learning_rate, momentum, weight_decay, batch_norm_decay, batch_norm_epsilon, sync, num_workers.
sextant::EstimatorSpec ResnetModelFn(const sextant::ModelFnArgs& args);

}  // namespace cifar10
