// Metric: a streaming metric. Its state is in local variables (collections "local_variables" and
// "metric_variables"): running "update" with a batch adds the batch and gives the value so far,
// "value" reads it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API Metric {
  Output value;
  Output update;
};

// By name, in the order given.
using NamedMetrics = std::vector<std::pair<std::string, Metric>>;

}  // namespace sextant

#pragma GCC visibility pop
