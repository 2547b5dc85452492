// Whether computing tensors changes anything that a later run sees.
#pragma once

#include <span>

#include "sextant/graph/graph.h"

namespace sextant {

// True when all that the outputs need, functions included, only reads variables and tables. Then
// made-up values may be run through it. Random numbers, queues, iterators and prints count as
// effects.
bool OnlyReads(std::span<const Output> outputs);

}  // namespace sextant
