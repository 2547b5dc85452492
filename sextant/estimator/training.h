// One training of an Estimator: from the newest checkpoint on, until an end is reached.
#pragma once

#include <cstdint>
#include <functional>

#include "sextant/estimator/estimator.h"

namespace sextant {

// Estimator::Train. REQUIRES: the caller has the model_dir's lock (model_dir_lock.h).
// input_found, if given, is called when the input of the training has been found to be there and
// nothing is written yet.
int64_t RunTraining(const Estimator::State& state, const InputFn& input_fn,
                    const TrainOptions& options, const std::function<void()>& input_found = {});

}  // namespace sextant
