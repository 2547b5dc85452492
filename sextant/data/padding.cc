#include "sextant/data/padding.h"

#include <algorithm>
#include <cstring>

#include "sextant/data/batch_limit.h"
#include "sextant/data/own_tensor.h"

namespace sextant::data {
namespace {

template <typename Pairs>
auto FindByName(const Pairs& pairs, const std::string& name) -> decltype(&pairs[0].second) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return &value;
  }
  return nullptr;
}

// Copies src into the corner of `dst` that begins at element `begin`; `sizes` are dst's.
void CopyCorner(const Tensor& src, std::span<const int64_t> sizes, Tensor* dst, int64_t begin) {
  const int rank = src.rank();
  if (src.num_elements() == 0) return;
  // Trailing dimensions of full length are copied in one piece.
  int outer = rank;
  int64_t piece = 1;
  while (outer > 0) {
    --outer;
    piece *= src.dim(outer);
    if (src.dim(outer) != sizes[outer]) break;
  }
  std::vector<int64_t> index(outer, 0);
  for (int64_t from = 0; from < src.num_elements(); from += piece) {
    int64_t to = 0;
    for (int d = 0; d < rank; ++d) to = to * sizes[d] + (d < outer ? index[d] : 0);
    CopyElements(src, from, piece, dst, begin + to);
    for (int d = outer - 1; d >= 0 && ++index[d] == src.dim(d); --d) index[d] = 0;
  }
}

}  // namespace

const std::vector<int64_t>* Padder::WantedShape(const std::string& field) const {
  return FindByName(options_.shapes, field);
}

Shape Padder::PaddedShape(std::span<Element> rows, int field) const {
  const auto& [name, first] = rows[0].fields()[field];
  const std::vector<int64_t>* wanted = WantedShape(name);
  std::vector<int64_t> sizes(first.rank(), 0);
  for (const Element& row : rows) {
    const auto& [other, tensor] = row.fields()[field];
    if (other != name || tensor.dtype() != first.dtype() || tensor.rank() != first.rank()) {
      throw InvalidArgument("{}: {} cannot be in one batch with {}", what_, row.Describe(),
                            rows[0].Describe());
    }
    for (int d = 0; d < tensor.rank(); ++d) sizes[d] = std::max(sizes[d], tensor.dim(d));
  }
  if (wanted && wanted->size() != sizes.size()) {
    throw InvalidArgument("{}: field {} is {}, the shape asked for has rank {}", what_, name,
                          first.Describe(), wanted->size());
  }
  for (size_t d = 0; wanted && d < sizes.size(); ++d) {
    const int64_t size = (*wanted)[d];
    if (size < 0) continue;
    if (sizes[d] > size) {
      throw InvalidArgument("{}: dimension {} of field {} is {} long, more than the {} asked for",
                            what_, d, name, sizes[d], size);
    }
    sizes[d] = size;
  }
  return Shape(sizes);
}

void Padder::Fill(const std::string& field, Tensor* tensor) const {
  const Tensor* value = FindByName(options_.values, field);
  if (value && value->dtype() != tensor->dtype()) {
    throw InvalidArgument("{}: field {} is {}, the value to pad it with {}", what_, field,
                          DTypeName(tensor->dtype()), DTypeName(value->dtype()));
  }
  if (tensor->dtype() == DType::kString) {
    std::ranges::fill(tensor->flat<std::string>(), value ? value->scalar<std::string>() : "");
  } else if (!value) {
    std::memset(tensor->raw_data(), 0, tensor->bytes());
  } else {
    const size_t size = DTypeSize(tensor->dtype());
    auto* to = static_cast<char*>(tensor->raw_data());
    for (int64_t i = 0; i < tensor->num_elements(); ++i) {
      std::memcpy(to + i * size, value->raw_data(), size);
    }
  }
}

void Padder::Batch(std::span<Element> rows, Element* batch) const {
  const int fields = rows[0].size();
  for (const Element& row : rows) {
    if (row.size() != fields) {
      throw InvalidArgument("{}: {} cannot be in one batch with {}", what_, row.Describe(),
                            rows[0].Describe());
    }
  }
  batch->fields().resize(fields);
  for (int i = 0; i < fields; ++i) {
    const std::string& name = rows[0].fields()[i].first;
    const Shape row_shape = PaddedShape(rows, i);
    Shape shape = row_shape;
    shape.Insert(0, static_cast<int64_t>(rows.size()));
    const auto size = static_cast<int64_t>(DTypeSize(rows[0].fields()[i].second.dtype()));
    int64_t row_bytes = 0;
    if (__builtin_mul_overflow(row_shape.num_elements(), size, &row_bytes)) row_bytes = INT64_MAX;
    CheckBatchBytes(static_cast<int64_t>(rows.size()), row_bytes);
    auto& [batch_name, tensor] = batch->fields()[i];
    batch_name = name;
    MakeOwn(&tensor, rows[0].fields()[i].second.dtype(), shape);
    const bool ragged = std::ranges::any_of(
        rows, [&](const Element& row) { return row.fields()[i].second.shape() != row_shape; });
    if (ragged) Fill(name, &tensor);
    int64_t begin = 0;
    for (const Element& row : rows) {
      CopyCorner(row.fields()[i].second, row_shape.dims(), &tensor, begin);
      begin += row_shape.num_elements();
    }
  }
}

ElementSpec Padder::BatchSpec(const ElementSpec& rows, int64_t size) const {
  ElementSpec spec = rows;
  for (FieldSpec& field : spec) {
    if (const std::vector<int64_t>* wanted = WantedShape(field.name)) {
      field.shape = PartialShape(*wanted);
    } else if (field.shape.rank_known()) {
      field.shape = PartialShape::UnknownOfRank(field.shape.rank());
    }
    if (field.shape.rank_known()) field.shape.Insert(0, size);
  }
  return spec;
}

std::string Padder::Describe() const {
  std::string text;
  for (const auto& [field, shape] : options_.shapes) {
    text += fmt::format(",{}={}", field, PartialShape(shape).ToString());
  }
  for (const auto& [field, value] : options_.values) {
    text += fmt::format(",{}={}", field, value.ToString());
  }
  return text + (options_.drop_remainder ? ",drop" : "");
}

}  // namespace sextant::data
