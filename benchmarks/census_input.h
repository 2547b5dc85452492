// The input of the census program as the peers' scripts have it.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/estimator/input_fn.h"

namespace sextant::bench {

// Style "line": every row parsed by itself, then shuffled; "batched": lines shuffled, then parsed
// batch by batch.
Input CensusInput(const std::string& path, int64_t batch, bool shuffle, const std::string& style);

}  // namespace sextant::bench
