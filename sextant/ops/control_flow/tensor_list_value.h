// TensorList: the value inside the Variant that list ops pass around. Elements not set yet are
// tensors without a value; they are read as zeros where the shape is known.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API TensorList {
  DType dtype = DType::kInvalid;
  PartialShape element_shape;     // of every element
  int64_t max_num_elements = -1;  // no limit
  std::vector<Tensor> elements;   // without a dtype: not set

  int64_t size() const { return static_cast<int64_t>(elements.size()); }
  // "shape" with what this list and its elements tell about it. Throws INVALID_ARGUMENT where they
  // differ.
  PartialShape MergedShape(const PartialShape& shape) const;
  // Throws INVALID_ARGUMENT unless the tensor may be an element.
  void CheckElement(const Tensor& tensor) const;
};

// The list in a scalar variant. Throws INVALID_ARGUMENT when it is none.
const TensorList& ListOf(const Tensor& handle);
// A scalar variant that holds the list.
Tensor ListTensor(TensorList list);
// The list in "handle" for changing: the value itself when nobody else holds it, else "handle" gets
// a copy.
TensorList& MutableList(Tensor& handle);

// What a variant tensor's ops AddN and ZerosLike do: element by element, lists inside lists too; an
// element that is not set counts as zeros. Optionals and other values without arithmetic give empty
// ones. Throws INVALID_ARGUMENT on lists of different lengths, types or shapes.
Tensor AddVariants(const Tensor& a, const Tensor& b);
// sum = AddVariants(sum, value), in place where nobody else holds the list.
void AddToVariants(Tensor& sum, const Tensor& value);
Tensor ZerosLikeVariant(const Tensor& value);

// a + b for tensors of one shape and numeric (or variant) type.
Tensor AddTensors(const Tensor& a, const Tensor& b);
// Writes the elements of "part" into "whole", which is of the same type, from element "offset" on.
void CopyElements(const Tensor& part, Tensor& whole, int64_t offset);
// The shape that an int32 or int64 tensor denotes: a vector (-1 = unknown) or the scalar -1.
PartialShape PartialShapeFromTensor(const Tensor& tensor);

}  // namespace sextant

#pragma GCC visibility pop
