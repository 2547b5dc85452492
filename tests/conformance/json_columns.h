// Feature columns as the estimator.json of a recorded estimator describes them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "sextant/nn/feature_column.h"

namespace sextant::conformance {

columns::FeatureColumn ColumnFromJson(const nlohmann::json& description);
std::vector<columns::FeatureColumn> ColumnsFromJson(const nlohmann::json& descriptions);

}  // namespace sextant::conformance
