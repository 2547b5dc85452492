// Metrics on the terminal.
#pragma once

#include <iosfwd>

#include "sextant/estimator/estimator.h"

namespace sextant::cli {

// A line for each, by name; nothing when there are none.
void PrintMetrics(const EvalResult& metrics, std::ostream& out);

}  // namespace sextant::cli
