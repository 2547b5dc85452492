// Tensors and shapes as protobuf messages, by the rules of TensorFlow's TensorProto.
#pragma once

#include "sextant/base/export.h"
#include "sextant/tensor/tensor.h"

namespace sextant::proto {
class TensorProto;
class TensorShapeProto;
}  // namespace sextant::proto

namespace sextant {

// Accepts tensor_content, the typed lists, lists shorter than the shape (the last value repeats)
// and empty ones (zeros). Throws INVALID_ARGUMENT on anything else; never allocates more than
// "max_bytes".
SEXTANT_API Tensor TensorFromProto(const proto::TensorProto& proto,
                                   size_t max_bytes = size_t{1} << 40,
                                   Allocator& allocator = HostAllocator());
// Plain elements go to tensor_content when there is more than one, else to the typed list; strings
// to string_val. Variants and resources whose content has no proto form throw UNIMPLEMENTED.
SEXTANT_API void TensorToProto(const Tensor& tensor, proto::TensorProto* proto);

PartialShape ShapeFromProto(const proto::TensorShapeProto& proto);
void ShapeToProto(const PartialShape& shape, proto::TensorShapeProto* proto);

}  // namespace sextant
