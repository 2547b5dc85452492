// Trains or evaluates a model on several devices of this process (MirroredStrategy, run_config.h):
// every device computes the loss and the gradients of a batch of its own, the variables, which all
// share, are updated once with the mean of the gradients (their sum, where the loss is a sum over
// the rows: Replica::set_loss_reduction). Any model function will do: optimizers, batch
// normalisation and moving averages know about replicas (graph/replica.h), layers and heads need
// not.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sextant/data/dataset.h"
#include "sextant/estimator/model_fn.h"

namespace sextant {

// The devices meant: the strategy's, or else all host devices of the session. Throws
// INVALID_ARGUMENT for a device named twice.
std::vector<std::string> DevicesOf(const MirroredStrategy& strategy, const SessionOptions& session);
// The session's options with as many host devices as the strategy names.
SessionOptions SessionFor(const MirroredStrategy& strategy, SessionOptions session);

// Builds the model in the current graph, once for each device, with batches taken in the order of
// the devices: one step takes as many as there are devices.
//
// What comes back is replica 0's, apart from: the loss, which is that of all batches; and, when
// evaluating, the updates of metrics, which take in all batches, and a metric "loss", the mean of
// the batches' losses. With one device it is what model_fn gives.
EstimatorSpec BuildMirrored(const MirroredStrategy& strategy,
                            const std::function<std::pair<Features, Features>()>& next_batch,
                            const ModelFn& model_fn, Mode mode, const HParams& params,
                            const RunConfig& config);

// Pads the dataset with empty batches, so that all its batches are evaluated when their number is
// not a multiple of the number of devices. Unchanged where elements are not batches, or with one
// device.
data::Dataset FillLastStep(const data::Dataset& dataset, int devices);

}  // namespace sextant
