// What values a parameter of a registered model may have.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/hparams.h"

#pragma GCC visibility push(default)

namespace sextant::models {

// Of a number, or of every number of a list. NaN and infinities are never allowed.
struct SEXTANT_API ParamLimits {
  double least = std::numeric_limits<double>::lowest();  // the smallest value
  double most = std::numeric_limits<double>::max();      // the largest
  bool above_least = false;                              // greater than `least`, not equal
  bool below_most = false;                               // less than `most`
  std::vector<std::string> choices = {};                 // of a text; none: any
};

// From `least` to `most`.
ParamLimits Between(double least, double most);
// Any number from `least` on that a float holds.
ParamLimits AtLeast(double least);
// Shares: 0 <= x < 1.
ParamLimits Share();
// Texts.
ParamLimits OneOf(std::vector<std::string> choices);

// Throws INVALID_ARGUMENT, "dropout must be at least 0 and less than 1, not 1.5", for another
// value.
void CheckLimits(const std::string& name, const HParams::Value& value, const ParamLimits& limits);

}  // namespace sextant::models

#pragma GCC visibility pop
