// `sextant data census`: the UCI "Adult" files, cleaned, as adult.data.csv and adult.test.csv.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "sextant/datasets/options.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

// The rows of adult.data or adult.test, at most `count` (-1: all): without blank lines, without the
// comment line that begins with a bar and without the full stop at the end of a label. Spaces after
// commas are kept. Throws DATA_LOSS with `name` and the line unless each has 15 columns and one of
// the two labels.
std::string CleanCensus(std::string_view text, int64_t count, const std::string& name);

// Prints what it does to `out`.
void MakeCensus(const DataOptions& options, std::ostream& out);

}  // namespace sextant::datasets

#pragma GCC visibility pop
