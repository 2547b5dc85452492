// The logged tensors (models/model_fn.h), to the benchmark logger.
#pragma once

#include "boilerplate/logger/logger.h"

namespace boilerplate {

// Logs metrics at a fixed interval in seconds, and at the end.
sextant::train::HookRef MakeMetricHook(std::shared_ptr<BenchmarkLogger> logger,
                                       double every_seconds = 600);

}  // namespace boilerplate
