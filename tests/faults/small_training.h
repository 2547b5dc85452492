// A small training with all that has a state: shuffling, distortion, dropout, batch norm and two
// optimizers; evaluated and exported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sextant/base/cancellation.h"

namespace sextant {

// Trains up to the global step "steps", from the newest checkpoint of model_dir on.
void TrainSmallModel(const std::string& model_dir, int64_t steps,
                     std::shared_ptr<CancellationToken> cancellation);

}  // namespace sextant
