// Reading integer tensors (axes, sizes, indices) of whatever integer type as int64, and writing
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
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
// What TensorFlow's kernels take for a scalar differs from op to op.
enum class ScalarForm {
  kScalar,      // rank 0
  kLegacy,      // rank 0 or a vector of one element
  kOneElement,  // any shape of one element
};
// The only element. Throws INVALID_ARGUMENT, naming "what", unless the tensor has the form.
int64_t IndexScalar(const Tensor& tensor, const char* what, ScalarForm form = ScalarForm::kScalar);
// An axis given by such a tensor, made non-negative. Throws INVALID_ARGUMENT when it is not in
// [-rank, rank).
int AxisOf(const Tensor& tensor, int rank, ScalarForm form = ScalarForm::kScalar);
// The shape an integer vector denotes. Throws INVALID_ARGUMENT, naming "what", on other ranks and
// on negative or overflowing sizes.
Shape ShapeFromTensor(const Tensor& tensor, const char* what = "shape");
// The same of a vector, or of a scalar, which stands for a vector of one element.
Shape ShapeFromLegacyTensor(const Tensor& tensor, const char* what = "shape");
// The coordinates of element i in messages: "[1,3]"; nothing for a scalar.
std::string CoordinatesText(const Shape& shape, int64_t i);
// Throws INVALID_ARGUMENT, naming the coordinates, unless all values, the elements of a tensor of
// this shape, are in [0, limit): "indices[1,3] = 9 is not in [0, 5)".
void CheckInRange(const char* what, const Shape& shape, std::span<const int64_t> values,
                  int64_t limit);
// Throws INVALID_ARGUMENT unless the tensor is a vector (of "length" elements when that is not -1).
void CheckVector(const Tensor& tensor, const char* what, int64_t length = -1);

}  // namespace sextant
