// OptionalFromValue, OptionalNone, OptionalHasValue, OptionalGetValue: values that may be absent.
// An optional is a scalar variant.
#pragma once

#include <vector>

#include "sextant/graph/output.h"

namespace sextant {

Output OptionalFromValue(const std::vector<Output>& components);
Output OptionalNone();
Output OptionalHasValue(Output optional);
// Running it on an empty optional is an error.
std::vector<Output> OptionalGetValue(Output optional, const std::vector<DType>& types,
                                     const std::vector<PartialShape>& shapes);

}  // namespace sextant
