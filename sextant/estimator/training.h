// One training of an Estimator: from the newest checkpoint on, until an end is reached.
#pragma once

#include <cstdint>

#include "sextant/estimator/estimator.h"

namespace sextant {

// Estimator::Train. REQUIRES: the caller has the model_dir's lock (model_dir_lock.h).
int64_t RunTraining(const Estimator::State& state, const InputFn& input_fn,
                    const TrainOptions& options);

}  // namespace sextant
