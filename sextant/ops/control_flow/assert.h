// Assert, Print: checks and prints inside a graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Fails with INVALID_ARGUMENT and the first "summarize" elements of each datum (-1: all) unless the
// condition holds. Runs only when something depends on it: put the node into ControlDependencies.
Operation Assert(Output condition, const std::vector<Output>& data, int64_t summarize = 3);

struct SEXTANT_API PrintOptions {
  std::string message;
  int64_t first_n = -1;  // prints the first n times; -1: always
  int64_t summarize = 3;
};
// The input; prints message and data to standard error when it is computed.
Output Print(Output input, const std::vector<Output>& data, const PrintOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
