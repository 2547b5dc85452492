// SerializeTensor, ParseTensor: tensors as serialized TensorProtos and back.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// The tensor as the bytes of a TensorProto, a scalar string.
Output SerializeTensor(Output tensor);
// The tensor of a serialized TensorProto, which must be of this type.
Output ParseTensor(Output serialized, DType out_type);

}  // namespace sextant

#pragma GCC visibility pop
