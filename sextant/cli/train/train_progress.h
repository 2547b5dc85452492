// How a training gets on: a line on the terminal, or lines of JSON for scripts.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/train/hooks.h"

namespace sextant::cli {

struct TrainProgressOptions {
  int64_t last_step = 0;     // 0: not known
  int64_t batch_size = 1;    // examples of a step
  std::ostream* json = {};   // if given: {"event": "train", "step": ..., "loss": ...} lines
  int64_t json_steps = 100;  // so often
};
// Shows step, loss, examples per second and the time left while stderr is a terminal.
train::HookRef TrainProgress(const TrainProgressOptions& options);

// Writes {"event": "eval", "step": ..., "metrics": {...}} after every evaluation.
ExporterRef ReportEvaluations(std::ostream& json);

// "step 320 of 1000, loss 12.4, 41200 examples/s, 0:12 left"; what is unknown (0 steps a second) is
// left out.
std::string TrainProgressLine(int64_t step, int64_t last_step, double loss, double steps_per_second,
                              int64_t batch_size);

// {"event": "export", "path": ...} for every export, then {"event": "done", "step": ...}.
void PrintDone(const TrainAndEvaluateResult& result, const std::string& model_dir,
               std::ostream& json);

// One line of JSON with the metrics, "NaN" for those that are no numbers.
void PrintEvaluation(const EvalResult& metrics, const std::string& name, std::ostream& json);

}  // namespace sextant::cli
