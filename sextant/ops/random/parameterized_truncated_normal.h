// ParameterizedTruncatedNormal: normal numbers between given bounds.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/random/random.h"

namespace sextant {

// Normal numbers with the given means and standard deviations, none outside [minvals, maxvals].
// Each parameter is a scalar or a vector with one value per row of "shape".
Output ParameterizedTruncatedNormal(const ShapeInput& shape, Output means, Output stdevs,
                                    Output minvals, Output maxvals,
                                    const RandomSeedOptions& options = {});

}  // namespace sextant
