// Parts of tensors put together from the parts that a checkpoint stores.
#pragma once

#include <string>

#include "sextant/base/function_ref.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_slice.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// Copies the elements that two parts of one tensor have in common. REQUIRES: both slices made by
// In, and dst of the type of src.
void CopyCommonElements(const TensorSlice& from, const Tensor& src, const TensorSlice& to,
                        Tensor* dst);

// The part `wanted` (made by In) of the tensor that `info` describes: read(slice) gives the stored
// slices. Throws INVALID_ARGUMENT when these leave a gap in it or overlap; `where` names the
// checkpoint.
Tensor AssembleSlice(const std::string& where, const BundleTensorInfo& info,
                     const TensorSlice& wanted, FunctionRef<Tensor(const TensorSlice&)> read);

}  // namespace sextant
