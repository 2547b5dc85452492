// Tensors that nobody else holds, in reused buffers: elements belong to their receiver, and a
// steady state allocates nothing.
#pragma once

#include "sextant/data/element.h"

namespace sextant::data {

// Makes *tensor one of this type and shape that nobody else holds, with whatever elements its
// buffer has: its old buffer when it fits and is held by nobody else.
void MakeOwn(Tensor* tensor, DType dtype, const Shape& shape);

// Copies src to *dst, which becomes a tensor (element) of its own.
void CopyTo(const Tensor& src, Tensor* dst);
void CopyTo(const Element& src, Element* dst);

// Copies row `row` of src, without the first dimension. REQUIRES: src has such a row.
void CopyRowTo(const Tensor& src, int64_t row, Tensor* dst);

// Copies `count` elements of type `dtype`, from element src_begin of src to dst_begin of *dst.
// Throws INVALID_ARGUMENT for types that are neither plain nor strings.
void CopyElements(const Tensor& src, int64_t src_begin, int64_t count, Tensor* dst,
                  int64_t dst_begin);

}  // namespace sextant::data
