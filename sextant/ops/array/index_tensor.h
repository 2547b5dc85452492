// Reading integer tensors (axes, sizes, indices) of whatever integer type as int64, and writing
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant {

// Element i of an integer tensor. Throws INVALID_ARGUMENT on other types. REQUIRES: i is in range.
int64_t IndexAt(const Tensor& tensor, int64_t i);
// Sets element i of a tensor of int32 or int64. REQUIRES: i is in range.
inline void SetIndexAt(Tensor& tensor, int64_t i, int64_t value) {
  if (tensor.dtype() == DType::kInt64) {
    tensor.data<int64_t>()[i] = value;
  } else {
    tensor.data<int32_t>()[i] = static_cast<int32_t>(value);
  }
}
// All elements; "indices" keeps its memory from call to call.
void ReadIndices(const Tensor& tensor, std::vector<int64_t>* indices);
// The only element. Throws INVALID_ARGUMENT, naming "what", unless there is exactly one.
int64_t IndexScalar(const Tensor& tensor, const char* what);
// An axis given by a tensor with one element, made non-negative. Throws INVALID_ARGUMENT when it is
// not in [-rank, rank).
int AxisOf(const Tensor& tensor, int rank);
// The shape an integer vector denotes. Throws INVALID_ARGUMENT, naming "what", on negative or
// overflowing sizes.
Shape ShapeFromTensor(const Tensor& tensor, const char* what = "shape");
// Throws INVALID_ARGUMENT unless the tensor is a vector (of "length" elements when that is not -1).
void CheckVector(const Tensor& tensor, const char* what, int64_t length = -1);

}  // namespace sextant
