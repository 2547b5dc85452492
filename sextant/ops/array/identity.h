// Identity, IdentityN, StopGradient, PreventGradient, DeepCopy, EnsureShape: ops whose output is
// their input.
#pragma once

#include <string_view>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

Output Identity(Output x, std::string_view name = "Identity");
std::vector<Output> IdentityN(const std::vector<Output>& xs);
// x, taken for a constant by Gradients.
Output StopGradient(Output x);
// x; asking for a gradient through it is an error with this message.
Output PreventGradient(Output x, std::string_view message);
// A copy that shares nothing with x.
Output DeepCopy(Output x);
// x, checked to have this shape when it runs.
Output EnsureShape(Output x, const PartialShape& shape);

}  // namespace sextant

#pragma GCC visibility pop
