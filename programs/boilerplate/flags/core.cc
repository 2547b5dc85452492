#include "boilerplate/flags/core.h"

namespace sx = sextant;

namespace boilerplate {

void DefineFlags(sx::Flags& flags, AllFlags* values) {
  DefineModelAndDataFlags(flags, values);
  DefineBaseFlags(flags, values);
  DefinePerformanceFlags(flags, values);
  DefineBenchmarkFlags(flags, values);
  flags.Add("seed", &values->seed, "of everything random", {.min = 0});
}

void CheckFlags(const AllFlags& flags) {
  if (flags.train_epochs < flags.epochs_between_evals) {
    throw sx::InvalidArgument("--train_epochs {} is less than --epochs_between_evals {}",
                              flags.train_epochs, flags.epochs_between_evals);
  }
  if (flags.benchmark_logger_type == "BenchmarkFileLogger" && flags.benchmark_log_dir.empty()) {
    throw sx::InvalidArgument("BenchmarkFileLogger needs --benchmark_log_dir");
  }
}

RunParameters ParametersOf(const AllFlags& flags) {
  return {{"model", flags.model},
          {"dataset", flags.dataset},
          {"data_dir", flags.data_dir},
          {"train_epochs", flags.train_epochs},
          {"epochs_between_evals", flags.epochs_between_evals},
          {"batch_size", flags.batch_size},
          {"num_gpus", flags.num_gpus},
          {"max_train_steps", flags.max_train_steps.value_or(0)},
          {"stop_threshold", flags.stop_threshold},
          {"use_synthetic_data", flags.use_synthetic_data},
          {"seed", flags.seed.value_or(-1)}};
}

}  // namespace boilerplate
