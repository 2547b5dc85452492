// The census data as the estimators of golden folders were trained on it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sextant/data/dataset.h"

namespace sextant::conformance {

// The folder of adult.data and adult.test: "given", or else one beside or above the directory of
// the case, that of the environment variable SEXTANT_DATA, or ../shared/data/census. Throws
// NOT_FOUND, naming the option, when there is none.
std::string CensusFolder(const std::string& given, const std::string& directory);

// The rows of a file, read as "input" of the estimator.json says, one element each: the features,
// and the label in "label".
data::Dataset CensusRows(const std::string& path, const nlohmann::json& estimator,
                         int64_t skipped_lines);

}  // namespace sextant::conformance
