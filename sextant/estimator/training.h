// One training of an Estimator: from the newest checkpoint on, until an end is reached.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sextant/estimator/estimator.h"

namespace sextant {

class Cluster;

struct TrainingInput {
  // If given, called when the input has been found to be there and nothing is written yet.
  std::function<void()> found = {};
  // Data that an earlier training has read to its end begins anew. Otherwise there is nothing left.
  bool begin_ended_anew = false;
  // Of a task of a cluster: trains with the others. Only the chief writes.
  std::shared_ptr<Cluster> cluster = {};
};
// Estimator::Train. REQUIRES: the caller, but for workers of a cluster, has the model_dir's lock
// (model_dir_lock.h).
int64_t RunTraining(const Estimator::State& state, const InputFn& input_fn,
                    const TrainOptions& options, const TrainingInput& handling);

// Deletes what processes that were killed left half written or half deleted in a model_dir.
// REQUIRES: the caller has its lock.
void DeleteLeftovers(const std::string& model_dir);

}  // namespace sextant
