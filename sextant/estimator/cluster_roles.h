// What a process does that TF_CONFIG makes a task of a cluster. All roles run the same program:
//
//   chief      trains, saves checkpoints, writes events; ends the training
//   master     the same, and evaluates and exports what it has saved
//   worker     trains
//   ps         holds variables; calls neither model function nor input function
//   evaluator  never connects: evaluates and exports checkpoints (evaluator_role.h)
//
// Each ends by itself: when max_steps are reached, when nobody has data any more, or when the chief
// is told to stop. The chief waits for the workers, saves, writes DONE; the servers leave last.
#pragma once

#include <cstdint>
#include <optional>

#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/estimator/training.h"

namespace sextant {

// TrainAndEvaluate of a task of a cluster. The global step of workers is the last they have seen,
// that of servers the one of the last checkpoint; metrics are of those that evaluate.
TrainAndEvaluateResult TrainAndEvaluateInCluster(const Estimator& estimator, const TrainSpec& train,
                                                 const EvalSpec& eval);
// Estimator::Train of a task of a cluster; a parameter server serves.
int64_t TrainInCluster(const Estimator::State& state, const InputFn& input_fn,
                       const TrainOptions& options);
// The schedule run_std_server: of a task of type ps.
int64_t ServeParameters(const RunConfig& config, std::optional<int64_t> max_steps);

}  // namespace sextant
