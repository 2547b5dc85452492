// DecodeCSV: records of comma-separated values as columns.
#pragma once

#include <string>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API DecodeCsvOptions {
  std::string field_delim = ",";     // one character
  bool use_quote_delim = true;       // " begins a quoted field
  std::string na_value;              // stands for a missing value, as an empty field does
  std::vector<int64_t> select_cols;  // strictly increasing; empty: all
};
// One tensor of the shape of "records" per column. A default of one element gives the type of its
// column (float, double, int32, int64 or string) and stands for missing values; of none, they are
// an error.
std::vector<Output> DecodeCSV(Output records, const std::vector<Output>& record_defaults,
                              const DecodeCsvOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
