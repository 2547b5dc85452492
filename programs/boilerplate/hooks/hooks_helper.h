// Training hooks by name, in any case of letters:
//   LoggingTensorHook      logs learning_rate, cross_entropy and train_accuracy every 100 steps
//   ProfilerHook           a timeline of a step in model_dir every 1000 steps
//   ExamplesPerSecondHook  throughput to the benchmark logger every 100 steps, after 5 to warm up
//   LoggingMetricHook      the logged tensors to the benchmark logger every 600 seconds and at the
//   end
#pragma once

#include "boilerplate/logger/logger.h"

namespace boilerplate {

struct HookContext {
  std::string model_dir;
  int64_t batch_size = 0;  // of all devices
  std::shared_ptr<BenchmarkLogger> logger;
};

// A text may hold several names, with commas between them. Throws INVALID_ARGUMENT, with the names
// there are, for another one.
std::vector<sextant::train::HookRef> GetTrainHooks(const std::vector<std::string>& names,
                                                   const HookContext& context);

// The scalar at a node of the current graph. Throws NOT_FOUND.
sextant::Output TensorByName(const std::string& node);

}  // namespace boilerplate
