// Flags that change how fast a run is, not what it computes.
#pragma once

#include <optional>
#include <string>

#include "sextant/sextant.h"

namespace boilerplate {

struct PerformanceFlags {
  int64_t inter_op_parallelism_threads = 0;
  int64_t intra_op_parallelism_threads = 0;
  bool use_synthetic_data = false;
  std::optional<int64_t> max_train_steps;
  std::string all_reduce_alg;
  int64_t num_parallel_calls = 0;
  std::string device_type = "GPU";
};
void DefinePerformanceFlags(sextant::Flags& flags, PerformanceFlags* values);

}  // namespace boilerplate
