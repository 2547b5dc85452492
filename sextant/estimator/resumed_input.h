// The input of a training that is resumed is read before anything in model_dir changes.
#pragma once

#include <memory>

#include "sextant/base/cancellation.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/train/hook.h"

namespace sextant {

// Waits for the batches of the first step, from where the checkpoint says. Throws the error of
// one that cannot be read, and INVALID_ARGUMENT when the data has no batch at all. Data that was
// read to its end before is no error: there is nothing left. REQUIRES: the model has an
// input_iterator, and outlives the hook; it stands behind AwaitInput, which makes the iterator.
train::HookRef CheckResumedInput(const ModelGraph& model, std::shared_ptr<CancellationToken> token);

// The error of data that has no batch.
[[noreturn]] void ThrowNoBatch();

}  // namespace sextant
