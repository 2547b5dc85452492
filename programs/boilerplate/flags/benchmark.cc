#include "boilerplate/flags/benchmark.h"

namespace boilerplate {

void DefineBenchmarkFlags(sextant::Flags& flags, BenchmarkFlags* values) {
  flags
      .Add("benchmark_logger_type", &values->benchmark_logger_type,
           "records on the console, or in benchmark_run.log and metric.log",
           {.aliases = {"blt"}, .choices = {"BenchmarkBaseLogger", "BenchmarkFileLogger"}})
      .Add("benchmark_test_id", &values->benchmark_test_id, "a name of this run in its record",
           {.aliases = {"bti"}})
      .Add("benchmark_log_dir", &values->benchmark_log_dir, "of the two files",
           {.aliases = {"bld"}});
}

}  // namespace boilerplate
