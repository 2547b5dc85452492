// The conjugates in the gradients of products.
#pragma once

#include "sextant/graph/op_builder.h"

namespace sextant {

// x itself if it is real.
inline Output Conjugate(Output x) {
  return IsComplex(x.dtype()) ? OpBuilder("Conj").Input(x).Build() : x;
}

}  // namespace sextant
