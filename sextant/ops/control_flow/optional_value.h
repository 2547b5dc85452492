// OptionalValue: the value inside the Variant that the Optional ops pass around.
#pragma once

#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant {

struct OptionalValue {
  std::vector<Tensor> components;  // none: the optional is empty
};

}  // namespace sextant
