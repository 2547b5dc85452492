// Restores a checkpoint and goes on with the next batch when the loss is NaN or infinite.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sextant/train/hooks.h"

namespace sextant::train {

struct RewindOptions {
  int64_t times = 3;  // the next loss that is not a number throws
  // Called with the step that the training is set back to, e.g. to tell the events.
  std::function<void(int64_t step)> after = {};
};

// When the loss is not a number: restores the variables from the newest checkpoint of the directory
// and lets the data go on behind the batch that made it, so that this one is not met again at once.
// A checkpoint that gives no number at the first step already is taken for bad, and the one before
// it is used. Throws INTERNAL after the last rewind allowed, and when there is no checkpoint
// (left). How often it happened is part of checkpoints.
HookRef RewindOnNan(Output loss, std::string checkpoint_dir, const RewindOptions& options = {});

}  // namespace sextant::train
