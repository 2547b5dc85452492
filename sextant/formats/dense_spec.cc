#include "sextant/formats/dense_spec.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "sextant/base/error.h"

namespace sextant {

FeatureKind FeatureKindOf(DType dtype, std::string_view what) {
  switch (dtype) {
    case DType::kString:
      return FeatureKind::kBytes;
    case DType::kFloat:
      return FeatureKind::kFloat;
    case DType::kInt64:
      return FeatureKind::kInt64;
    default:
      throw InvalidArgument("{} cannot be {}; float, int64 and string can be", what,
                            DTypeName(dtype));
  }
}

DenseSpec::DenseSpec(DType dtype, const PartialShape& given, std::string_view what)
    : kind(FeatureKindOf(dtype, what)) {
  PartialShape known = given;
  variable = given.rank_known() && given.rank() > 0 && given[0] == PartialShape::kUnknown;
  if (variable) known.Erase(0);
  if (!known.fully_known()) {
    throw InvalidArgument("{}: only the first dimension of a shape may be unknown, got {}", what,
                          given.ToString());
  }
  shape = known.AsShape();
  if (variable && elements() == 0) {
    throw InvalidArgument("{}: rows of shape {} have no elements", what, given.ToString());
  }
}

void ReadFeature(FeatureKind kind, std::string_view list, void* dst, int64_t offset,
                 int64_t count) {
  const auto size = static_cast<size_t>(count);
  switch (kind) {
    case FeatureKind::kBytes:
      return ReadValues(list, std::span(static_cast<std::string*>(dst) + offset, size));
    case FeatureKind::kFloat:
      return ReadValues(list, std::span(static_cast<float*>(dst) + offset, size));
    case FeatureKind::kInt64:
      return ReadValues(list, std::span(static_cast<int64_t*>(dst) + offset, size));
    case FeatureKind::kNone:
      return;
  }
}

void FillFeature(const Tensor& value, void* dst, int64_t offset, int64_t count) {
  const bool one = value.num_elements() == 1;
  if (value.dtype() == DType::kString) {
    auto* const to = static_cast<std::string*>(dst) + offset;
    const std::string* const from = value.data<std::string>();
    for (int64_t i = 0; i < count; ++i) to[i] = from[one ? 0 : i];
    return;
  }
  if (count == 0) return;
  const size_t size = DTypeSize(value.dtype());
  auto* const to = static_cast<char*>(dst) + static_cast<size_t>(offset) * size;
  std::memcpy(to, value.raw_data(), (one ? 1 : static_cast<size_t>(count)) * size);
  for (int64_t done = 1; one && done < count; done *= 2) {  // what is there once more
    const auto more = static_cast<size_t>(std::min(done, count - done));
    std::memcpy(to + static_cast<size_t>(done) * size, to, more * size);
  }
}

void ZeroFeature(FeatureKind kind, void* dst, int64_t offset, int64_t count) {
  switch (kind) {
    case FeatureKind::kBytes:
      std::fill_n(static_cast<std::string*>(dst) + offset, count, std::string());
      return;
    case FeatureKind::kFloat:
      std::fill_n(static_cast<float*>(dst) + offset, count, 0.0F);
      return;
    case FeatureKind::kInt64:
      std::fill_n(static_cast<int64_t*>(dst) + offset, count, int64_t{0});
      return;
    case FeatureKind::kNone:
      return;
  }
}

}  // namespace sextant
