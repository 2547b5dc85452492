// Measuring the steps of a model: their rate, the time of each kind of op, the memory.
#pragma once

#include <functional>
#include <string>

#include "benchmarks/report.h"
#include "sextant/runtime/session.h"

namespace sextant::bench {

// Runs one step of the model.
using StepFunction = std::function<void(const RunOptions& options)>;

struct StepReport {
  std::string workload;
  std::string metric;  // "images/s", "steps/s"
  std::string mode;
  int64_t batch = 1;
  double per_step = 1;  // of the metric's unit
};

// Prints the line of the rate, with batch, mode, threads and peak memory; with options.profile
// prints the time of each kind of op to stderr instead. "extra" is asked after the last step.
void MeasureSteps(const StepReport& report, const Options& options, const StepFunction& step,
                  const std::function<Extra()>& extra = {});

}  // namespace sextant::bench
