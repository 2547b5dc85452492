// Requests that an export holds, run before a version is used.
#pragma once

#include <cstdint>

#include "sextant/runtime/session.h"

namespace sextant::serving {

class Servable;

// Runs the requests of assets.extra/tf_serving_warmup_requests, a TFRecord file of PredictionLogs,
// "most" at most. Their number; -1 when the export has none. Throws INVALID_ARGUMENT or DATA_LOSS,
// naming the file and the record, for one that cannot be run.
int64_t ReplayWarmUp(const Servable& servable, int64_t most, const RunOptions& options);

}  // namespace sextant::serving
