// BroadcastTo, BroadcastArgs, Tile: repeating elements along dimensions, by NumPy's broadcasting
// rules or a number of times.
#pragma once

#include <utility>

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// x repeated along new and size-1 dimensions until it has this shape.
Output BroadcastTo(Output x, const IndexArg& shape);
// The shape that two shapes broadcast to.
Output BroadcastArgs(Output s0, Output s1);
// For each of two shapes that are broadcast together, the axes over which a gradient is summed.
std::pair<Output, Output> BroadcastGradientArgs(Output s0, Output s1);
// x repeated multiples[i] times along dimension i.
Output Tile(Output x, const IndexArg& multiples);

}  // namespace sextant

#pragma GCC visibility pop
