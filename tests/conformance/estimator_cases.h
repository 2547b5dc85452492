// Canned estimators recorded from TensorFlow: built from their description, they must evaluate its
// checkpoint to its metrics and train on from it.
#pragma once

#include <string>

#include "tests/conformance/recorded_case.h"

namespace sextant::conformance {

// A directory with an estimator.json, or a folder of such. "data" is the folder of the census files
// or "" (census_rows.h). Prints one line per failure.
Counts RunEstimatorCases(const std::string& path, const std::string& data,
                         const std::string& filter);

}  // namespace sextant::conformance
