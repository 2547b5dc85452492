// The features of the census model: what its wide and its deep part see of a person.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/data/sources.h"
#include "sextant/nn/feature_column.h"

#pragma GCC visibility push(default)

namespace sextant::models {

struct SEXTANT_API CensusFeatureColumns {
  std::vector<columns::FeatureColumn> wide;  // 1,020,251 weights
  std::vector<columns::FeatureColumn> deep;  // 50 + 2 * embedding_size numbers
};
CensusFeatureColumns CensusFeatures(int64_t embedding_size = 8);

// The columns that the features are made of, as requests in JSON have them: texts, then numbers as
// floats.
std::vector<data::CsvColumn> CensusRequestColumns();

// The label, and its words by class.
inline constexpr const char* kCensusLabel = "income_bracket";
const std::vector<std::string>& CensusClasses();

}  // namespace sextant::models

#pragma GCC visibility pop
