// Tensors as serialized TensorProtos, without building the message: the elements are copied once.
#pragma once

#include <string>
#include <string_view>

#include "sextant/base/export.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// A list of elements that is shorter than its shape is padded with its last value: up to this many
// bytes, so that a short message from an untrusted peer cannot exhaust memory.
inline constexpr size_t kMostFilledBytes = size_t{64} << 20;

// The tensor of a serialized TensorProto. Takes what TensorFromProto takes, throws what it throws,
// and INVALID_ARGUMENT for bytes that are no TensorProto.
SEXTANT_API Tensor TensorFromWire(std::string_view bytes);

// Appends the TensorProto, with the elements in the typed field of their dtype (float_val and so
// on), where TensorFlow Serving's clients look for them. Throws UNIMPLEMENTED for types that have
// none.
SEXTANT_API void AppendTensorWire(const Tensor& tensor, std::string* bytes);

}  // namespace sextant
