// Canned estimators as the estimator.json of a recorded one describes them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sextant/estimator/estimator.h"
#include "sextant/train/optimizer.h"

namespace sextant::conformance {

// {"name": "Adam", "learning_rate": 0.01, …}
train::Optimizer OptimizerFromJson(const nlohmann::json& description);
// Throws INVALID_ARGUMENT for a class that there is not.
Estimator EstimatorFromJson(const nlohmann::json& description, const RunConfig& config);

}  // namespace sextant::conformance
