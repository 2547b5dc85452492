// The shape of stacked elements.
#pragma once

#include "sextant/tensor/shape.h"

namespace sextant {

// [size, shape...], or unknown as "shape" is.
inline PartialShape StackedShape(int64_t size, PartialShape shape) {
  if (shape.rank_known()) shape.Insert(0, size);
  return shape;
}

}  // namespace sextant
