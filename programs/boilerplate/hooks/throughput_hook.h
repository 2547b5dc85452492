// Examples per second, to the benchmark logger: average_examples_per_sec over the whole run and
// current_examples_per_sec since the report before.
#pragma once

#include "boilerplate/logger/logger.h"

namespace boilerplate {

sextant::train::HookRef MakeThroughputHook(int64_t batch_size,
                                           std::shared_ptr<BenchmarkLogger> logger,
                                           int64_t every_steps = 100, int64_t warm_up_steps = 5);

}  // namespace boilerplate
