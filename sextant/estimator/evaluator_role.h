// The evaluator of a cluster: a process that never connects to the others. It watches the
// model_dir, evaluates each new checkpoint that is whole once, runs the exporters, and ends by
// itself: after the checkpoint of max_steps, or when the chief has left the marker DONE.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "sextant/base/cancellation.h"
#include "sextant/estimator/train_and_evaluate.h"

namespace sextant {

struct EvaluatorOptions {
  std::chrono::milliseconds poll{500};  // how often it looks for a checkpoint
};

// Checkpoints are evaluated in their order, those that are deleted before that are left out; with
// EvalSpec::throttle_secs or throttle_steps, the newest one when the throttle has passed. What an
// evaluator that was killed has done is not done again, and of several evaluators one does it. The
// result is that of the newest evaluation.
TrainAndEvaluateResult RunEvaluator(const Estimator& estimator, const TrainSpec& train,
                                    const EvalSpec& eval, const EvaluatorOptions& options = {});

struct AwaitEvaluatorOptions {
  // For an evaluator to begin with the last checkpoint, and for it to end.
  std::chrono::milliseconds begin{15'000};
  std::chrono::milliseconds finish{600'000};
  std::chrono::milliseconds poll{200};
  std::shared_ptr<CancellationToken> cancellation = {};
};
// Of the chief, when the last checkpoint, of this step, is saved and noted in the ledger
// (TrainingLedger::End): waits until an evaluator has done all with it. False when there is none
// that does, after the times above; true at once when no evaluator has ever been there.
bool AwaitEvaluator(const std::string& model_dir, int64_t step,
                    const AwaitEvaluatorOptions& options = {});

}  // namespace sextant
