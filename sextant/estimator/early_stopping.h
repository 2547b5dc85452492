// Hooks that end a training because of how its evaluations went. They read the evaluations that
// TrainAndEvaluate notes in model_dir (ledger.h), so that a resumed training, or one that another
// process evaluates, is judged by all of them.
//
//   TrainSpec train{.input_fn = input, .max_steps = 100000,
//                   .hooks = {StopIfNoDecrease(estimator, "loss", 5000)}};
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sextant/estimator/estimator.h"

namespace sextant {

struct EarlyStoppingOptions {
  std::string eval_name = {};  // of the EvalSpec
  int64_t min_steps = 0;       // evaluations before this step do not count
};

// The metric of every evaluation is not smaller (larger) than the best one before, for
// max_steps_without_decrease (increase) steps. Evaluations without the metric do not count.
train::HookRef StopIfNoDecrease(const Estimator& estimator, std::string metric,
                                int64_t max_steps_without_decrease,
                                const EarlyStoppingOptions& options = {});
train::HookRef StopIfNoIncrease(const Estimator& estimator, std::string metric,
                                int64_t max_steps_without_increase,
                                const EarlyStoppingOptions& options = {});
// The metric of an evaluation is above (below) the threshold.
train::HookRef StopIfHigher(const Estimator& estimator, std::string metric, double threshold,
                            const EarlyStoppingOptions& options = {});
train::HookRef StopIfLower(const Estimator& estimator, std::string metric, double threshold,
                           const EarlyStoppingOptions& options = {});

// For other reasons: asked every so often, by default every 60 seconds.
train::HookRef StopIf(std::function<bool()> should_stop, train::Every every = {.seconds = 60});

}  // namespace sextant
