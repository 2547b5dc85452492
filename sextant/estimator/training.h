// One training of an Estimator: from the newest checkpoint on, until an end is reached.
#pragma once

#include <cstdint>
#include <functional>

#include "sextant/estimator/estimator.h"

namespace sextant {

struct TrainingInput {
  // If given, called when the input has been found to be there and nothing is written yet.
  std::function<void()> found = {};
  // Data that an earlier training has read to its end begins anew. Otherwise there is nothing left.
  bool begin_ended_anew = false;
};
// Estimator::Train. REQUIRES: the caller has the model_dir's lock (model_dir_lock.h).
int64_t RunTraining(const Estimator::State& state, const InputFn& input_fn,
                    const TrainOptions& options, const TrainingInput& handling);

}  // namespace sextant
