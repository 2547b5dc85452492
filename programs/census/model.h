// The census model: its estimator, its input function and the inputs that it is served with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sextant/sextant.h"

namespace census {

// A wide & deep classifier of who earns more than 50,000 a year.
sextant::Estimator BuildEstimator(const sextant::RunConfig& config, int64_t embedding_size = 8,
                                  std::vector<int64_t> hidden_units = {100, 70, 50, 25});

struct InputOptions {
  std::optional<int64_t> num_epochs = {};  // none: for ever
  bool shuffle = true;
  int64_t shuffle_buffer = 0;  // rows to draw from; 0: ten batches
  int64_t skip_header_lines = 0;
  int64_t batch_size = 200;
  std::optional<int64_t> seed = {};  // of the shuffle
};
// Features by column name, and as the label the class: 0 for " <=50K", 1 for " >50K".
sextant::Input InputFn(const std::vector<std::string>& filenames, const InputOptions& options);

// "JSON": a placeholder for every column; "CSV": rows with their label; "EXAMPLE": tf.Examples.
sextant::ServingInputFn ServingInput(const std::string& format);

}  // namespace census
