#include "sextant/data/own_tensor.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "sextant/base/error.h"

namespace sextant::data {

void MakeOwn(Tensor* tensor, DType dtype, const Shape& shape) {
  if (tensor->unique() && tensor->dtype() == dtype && !tensor->buffer()->transient()) {
    if (tensor->shape() == shape) return;
    const size_t bytes = static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype);
    if (IsPlain(dtype) && bytes <= tensor->buffer()->size()) {
      BufferRef buffer = tensor->buffer();
      *tensor = Tensor(dtype, shape, std::move(buffer), 0);
      return;
    }
  }
  *tensor = Tensor(dtype, shape);
}

void CopyElements(const Tensor& src, int64_t src_begin, int64_t count, Tensor* dst,
                  int64_t dst_begin) {
  const DType dtype = src.dtype();
  if (IsPlain(dtype)) {
    const size_t size = DTypeSize(dtype);
    if (count == 0) return;
    std::memcpy(static_cast<char*>(dst->raw_data()) + dst_begin * size,
                static_cast<const char*>(src.raw_data()) + src_begin * size, count * size);
  } else if (dtype == DType::kString) {
    std::copy_n(src.data<std::string>() + src_begin, count, dst->data<std::string>() + dst_begin);
  } else {
    throw InvalidArgument("datasets cannot copy tensors of type {}", DTypeName(dtype));
  }
}

void CopyTo(const Tensor& src, Tensor* dst) {
  MakeOwn(dst, src.dtype(), src.shape());
  CopyElements(src, 0, src.num_elements(), dst, 0);
}

void CopyTo(const Element& src, Element* dst) {
  dst->fields().resize(src.size());
  for (int i = 0; i < src.size(); ++i) {
    dst->fields()[i].first = src.fields()[i].first;
    CopyTo(src.fields()[i].second, &dst->fields()[i].second);
  }
}

void CopyRowTo(const Tensor& src, int64_t row, Tensor* dst) {
  Shape shape = src.shape();
  shape.Erase(0);
  MakeOwn(dst, src.dtype(), shape);
  const int64_t count = shape.num_elements();
  CopyElements(src, row * count, count, dst, 0);
}

}  // namespace sextant::data
