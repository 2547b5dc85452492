// One graph with a tower for each device: all towers share the variables, and the mean of their
// gradients makes one update.
#pragma once

#include <functional>

#include "cifar10_towers/cifar10_input.h"
#include "sextant/sextant.h"

namespace cifar10 {

struct TowersOptions {
  int64_t num_towers = 4;
  std::string device = "gpu";  // towers are on /gpu:0, /gpu:1, …
  int64_t batch_size = 128;    // of a tower, for the schedule
};

struct Towers {
  sextant::Output loss;  // of the last tower
  sextant::Operation train;
  sextant::Output summaries;  // of the last tower, and of the update
};
// `input` gives the batch of the tower whose scopes are open.
Towers BuildTowers(const TowersOptions& options, const std::function<Batch()>& input);

// The mean over the towers of the gradient of each variable.
std::vector<sextant::train::GradientAndVariable> AverageGradients(
    const std::vector<std::vector<sextant::train::GradientAndVariable>>& towers);

}  // namespace cifar10
