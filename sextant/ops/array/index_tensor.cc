#include "sextant/ops/array/index_tensor.h"

#include "sextant/base/error.h"

namespace sextant {
namespace {

template <typename F>
decltype(auto) WithIndexType(const Tensor& tensor, F&& f) {
  switch (tensor.dtype()) {
    case DType::kInt32:
      return f(tensor.data<int32_t>());
    case DType::kInt64:
      return f(tensor.data<int64_t>());
    case DType::kInt16:
      return f(tensor.data<int16_t>());
    case DType::kUInt16:
      return f(tensor.data<uint16_t>());
    case DType::kInt8:
      return f(tensor.data<int8_t>());
    case DType::kUInt8:
      return f(tensor.data<uint8_t>());
    default:
      throw InvalidArgument("expected an integer tensor, got {}", tensor.Describe());
  }
}

}  // namespace

int64_t IndexAt(const Tensor& tensor, int64_t i) {
  return WithIndexType(tensor, [i](const auto* data) { return static_cast<int64_t>(data[i]); });
}

void ReadIndices(const Tensor& tensor, std::vector<int64_t>* indices) {
  const int64_t count = tensor.num_elements();
  indices->resize(static_cast<size_t>(count));
  WithIndexType(tensor, [&](const auto* data) { std::copy(data, data + count, indices->data()); });
}

int64_t IndexScalar(const Tensor& tensor, const char* what) {
  if (tensor.num_elements() != 1) {
    throw InvalidArgument("{} must be a scalar, got shape {}", what, tensor.shape().ToString());
  }
  return IndexAt(tensor, 0);
}

int AxisOf(const Tensor& tensor, int rank) {
  const int64_t axis = IndexScalar(tensor, "axis");
  if (axis < -rank || axis >= rank) {
    throw InvalidArgument("axis {} is not in [{}, {})", axis, -rank, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape ShapeFromTensor(const Tensor& tensor, const char* what) {
  if (tensor.rank() > 1) {
    throw InvalidArgument("{} must be a vector, got shape {}", what, tensor.shape().ToString());
  }
  Shape shape;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const int64_t size = IndexAt(tensor, i);
    if (size < 0) throw InvalidArgument("{}[{}] = {} must be >= 0", what, i, size);
    shape.Append(size);
  }
  return shape;
}

void CheckVector(const Tensor& tensor, const char* what, int64_t length) {
  if (tensor.rank() != 1) {
    throw InvalidArgument("{} must be a vector, got shape {}", what, tensor.shape().ToString());
  }
  if (length >= 0 && tensor.num_elements() != length) {
    throw InvalidArgument("{} must have {} elements, got {}", what, length, tensor.num_elements());
  }
}

}  // namespace sextant
