#include "sextant/ops/parsing/dense_spec.h"

#include <algorithm>

namespace sextant {
namespace {

// Calls f.operator()<T>() with the type of the values.
template <typename F>
void ForKind(FeatureKind kind, F&& f) {
  switch (kind) {
    case FeatureKind::kBytes:
      return f.template operator()<std::string>();
    case FeatureKind::kFloat:
      return f.template operator()<float>();
    case FeatureKind::kInt64:
      return f.template operator()<int64_t>();
    case FeatureKind::kNone:
      return;
  }
}

}  // namespace

FeatureKind KindOf(DType dtype) {
  if (dtype == DType::kString) return FeatureKind::kBytes;
  if (dtype == DType::kFloat) return FeatureKind::kFloat;
  if (dtype == DType::kInt64) return FeatureKind::kInt64;
  throw InvalidArgument("features are float, int64 or string, not {}", DTypeName(dtype));
}

DenseSpec::DenseSpec(DType dtype, const PartialShape& given, size_t position)
    : kind(KindOf(dtype)) {
  PartialShape known = given;
  variable = given.rank_known() && given.rank() > 0 && given[0] == PartialShape::kUnknown;
  if (variable) known.Erase(0);
  if (!known.fully_known()) {
    throw InvalidArgument("only the first size of dense_shapes[{}] may be unknown, got {}",
                          position, given.ToString());
  }
  shape = known.AsShape();
  if (variable && elements() == 0) {
    throw InvalidArgument("rows of dense_shapes[{}] = {} have no elements", position,
                          given.ToString());
  }
}

void DenseSpec::CheckDefault(const Tensor& value, const std::string& key) const {
  if (variable && value.num_elements() != 1) {
    throw InvalidArgument("the padding of feature '{}' must be one element, got shape {}", key,
                          value.shape().ToString());
  }
  if (!variable && value.num_elements() > 0 && value.shape() != shape) {
    throw InvalidArgument("the default of feature '{}' must have shape {}, got {}", key,
                          shape.ToString(), value.shape().ToString());
  }
}

void ReadTo(FeatureKind kind, std::string_view list, void* dst, int64_t offset, int64_t count) {
  ForKind(kind, [&]<typename T>() {
    ReadValues(list, std::span<T>(static_cast<T*>(dst) + offset, static_cast<size_t>(count)));
  });
}

void FillWith(FeatureKind kind, const Tensor& value, void* dst, int64_t offset, int64_t count) {
  ForKind(kind, [&]<typename T>() {
    T* const begin = static_cast<T*>(dst) + offset;
    if (value.num_elements() == 1) {
      std::fill_n(begin, count, *value.data<T>());
    } else {
      std::copy_n(value.data<T>(), count, begin);
    }
  });
}

void FillZero(FeatureKind kind, void* dst, int64_t offset, int64_t count) {
  ForKind(kind, [&]<typename T>() { std::fill_n(static_cast<T*>(dst) + offset, count, T()); });
}

}  // namespace sextant
