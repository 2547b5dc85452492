#include "sextant/ops/array/index_tensor.h"

#include <fmt/ranges.h>

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

int64_t IndexScalar(const Tensor& tensor, const char* what, ScalarForm form) {
  const int max_rank = form == ScalarForm::kScalar ? 0 : form == ScalarForm::kLegacy ? 1 : kMaxRank;
  if (tensor.num_elements() != 1 || tensor.rank() > max_rank) {
    throw InvalidArgument("{} must be a scalar, got shape {}", what, tensor.shape().ToString());
  }
  return IndexAt(tensor, 0);
}

int AxisOf(const Tensor& tensor, int rank, ScalarForm form) {
  const int64_t axis = IndexScalar(tensor, "axis", form);
  if (axis < -rank || axis >= rank) {
    throw InvalidArgument("axis {} is not in [{}, {})", axis, -rank, rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape ShapeFromTensor(const Tensor& tensor, const char* what) {
  CheckVector(tensor, what);
  return ShapeFromLegacyTensor(tensor, what);
}

Shape ShapeFromLegacyTensor(const Tensor& tensor, const char* what) {
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

std::string CoordinatesText(const Shape& shape, int64_t i) {
  if (shape.rank() == 0) return "";
  std::vector<int64_t> coordinates(static_cast<size_t>(shape.rank()));
  for (int d = shape.rank() - 1; d >= 0; --d) {
    coordinates[d] = i % shape[d];
    i /= shape[d];
  }
  return fmt::format("[{}]", fmt::join(coordinates, ","));
}

void CheckInRange(const char* what, const Shape& shape, std::span<const int64_t> values,
                  int64_t limit) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= limit) [[unlikely]] {
      throw InvalidArgument("{}{} = {} is not in [0, {})", what,
                            CoordinatesText(shape, static_cast<int64_t>(i)), values[i], limit);
    }
  }
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
