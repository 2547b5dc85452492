// Where records of runs and metrics go.
#pragma once

#include <string>

#include "sextant/sextant.h"

namespace boilerplate {

struct BenchmarkFlags {
  std::string benchmark_logger_type = "BenchmarkBaseLogger";
  std::string benchmark_test_id;
  std::string benchmark_log_dir;
};
void DefineBenchmarkFlags(sextant::Flags& flags, BenchmarkFlags* values);

}  // namespace boilerplate
