// A sequence autoencoder: one GRU reads the symbols, another one writes them out again.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/output.h"

namespace sextant::bench {

inline constexpr int64_t kGruLength = 5, kGruSymbols = 7, kGruUnits = 100;

struct GruSeq2Seq {
  std::vector<Output> inputs;  // per position: the symbols of the batch, int32[batch]
  Output loss;                 // mean cross entropy per position
  Operation train;             // one step of momentum
};

// In the current graph. Variables are initialised at random.
GruSeq2Seq BuildGruSeq2Seq(int64_t batch);

}  // namespace sextant::bench
