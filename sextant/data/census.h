// The census income data as `sextant data census` writes it.
#pragma once

#include <string>
#include <vector>

#include "sextant/data/dataset.h"
#include "sextant/data/sources.h"

#pragma GCC visibility push(default)

namespace sextant::data {

// The 15 columns: numbers are int32 with default 0, texts are strings with default "".
const std::vector<CsvColumn>& CensusColumns();

// Split "train" (adult.data.csv) or "test" (adult.test.csv). Folder "" stands for
// $SEXTANT_DATA/census, else data/census. NOT_FOUND names the command that makes the files.
Dataset Census(const std::string& split, const std::string& folder = "");

}  // namespace sextant::data

#pragma GCC visibility pop
