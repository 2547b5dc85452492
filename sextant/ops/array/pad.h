// Pad, PadV2, MirrorPad: padding at the borders of a tensor.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Per dimension: elements before and after.
using Paddings = std::vector<std::pair<int64_t, int64_t>>;

// Zeros round x: Pad(x, {{1, 1}, {0, 2}}).
Output Pad(Output x, const Paddings& paddings);
Output Pad(Output x, Output paddings);
// The same with a scalar in place of zero.
Output PadV2(Output x, Output paddings, Output constant_value);
// The elements near the edge mirrored outwards: "REFLECT" leaves the edge itself out, "SYMMETRIC"
// repeats it.
Output MirrorPad(Output x, const Paddings& paddings, std::string_view mode);
Output MirrorPad(Output x, Output paddings, std::string_view mode);

}  // namespace sextant

#pragma GCC visibility pop
