// AsString: numbers and truth values as text.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Floats are written as C's printf does: %f, or %e when scientific, or %g when shortest.
struct SEXTANT_API AsStringOptions {
  int64_t precision = -1;  // digits after the point (of %g: significant ones); -1: 6
  bool scientific = false;
  bool shortest = false;
  int64_t width = -1;  // minimum number of characters; -1: as many as needed
  std::string fill;    // a printf flag: "0", "-", "+", " ", "#" or none
};
// "1.500000", "-3", "true", "(1.000000,2.000000)"; strings are only padded.
Output AsString(Output x, const AsStringOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
