#include "sextant/tensor/shape.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {

void Dims::Assign(const int64_t* values, int count) {
  if (count > kMaxRank) throw InvalidArgument("a shape of rank {} exceeds {}", count, kMaxRank);
  if (count > kInline) {
    auto fresh = std::make_unique<int64_t[]>(count);
    std::copy_n(values, count, fresh.get());
    heap_ = std::move(fresh);
  } else {
    for (int i = 0; i < count; ++i) inline_[i] = values[i];
    if (heap_) heap_.reset();
  }
  size_ = count;
}

void Dims::Insert(int position, int64_t value) {
  if (size_ < kInline) {
    for (int i = size_; i > position; --i) inline_[i] = inline_[i - 1];
    inline_[position] = value;
    ++size_;
    return;
  }
  // On the stack: kernels build shapes in every run.
  int64_t values[kMaxRank + 1];
  std::copy_n(data(), position, values);
  values[position] = value;
  std::copy(data() + position, data() + size_, values + position + 1);
  Assign(values, size_ + 1);
}

void Dims::Erase(int position) {
  int64_t values[kMaxRank + 1];
  std::copy_n(data(), position, values);
  std::copy(data() + position + 1, data() + size_, values + position);
  Assign(values, size_ - 1);
}

Shape::Shape(std::span<const int64_t> dims) {
  // A rank beyond int must not wrap round to a legal one.
  dims_.Assign(dims.data(), static_cast<int>(std::min<size_t>(dims.size(), kMaxRank + 1)));
  Recount();
}

void Shape::set_dim(int i, int64_t size) {
  dims_[i] = size;
  Recount();
}

void Shape::Insert(int position, int64_t size) {
  dims_.Insert(position, size);
  Recount();
}

void Shape::Erase(int position) {
  dims_.Erase(position);
  Recount();
}

void Shape::Recount() {
  // Zero sizes are left out of the product so that [2^40,2^40,0] is refused like [2^40,2^40]:
  // otherwise removing the zero would overflow later.
  int64_t product = 1;
  bool empty = false;
  for (const int64_t size : dims()) {
    if (size < 0) throw InvalidArgument("shape {} has a negative size", ToString());
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      throw InvalidArgument("shape {} has too many elements", ToString());
    }
  }
  num_elements_ = empty ? 0 : product;
}

bool Shape::operator==(const Shape& other) const {
  if (num_elements_ != other.num_elements_ || rank() != other.rank()) return false;
  const int64_t *const a = dims_.data(), *const b = other.dims_.data();
  for (int i = 0; i < rank(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

std::string Shape::ToString() const { return fmt::format("[{}]", fmt::join(dims(), ",")); }

PartialShape::PartialShape(std::span<const int64_t> dims) : rank_known_(true) {
  dims_.Assign(dims.data(), static_cast<int>(std::min<size_t>(dims.size(), kMaxRank + 1)));
  for (const int64_t size : dims) {
    if (size < kUnknown) {
      throw InvalidArgument("shape [{}] has a size below -1", fmt::join(dims, ","));
    }
  }
}

PartialShape::PartialShape(const Shape& shape) : PartialShape(shape.dims()) {}

PartialShape PartialShape::UnknownOfRank(int rank) {
  return PartialShape(std::vector<int64_t>(rank, kUnknown));
}

bool PartialShape::fully_known() const {
  return rank_known_ && std::ranges::find(dims(), kUnknown) == dims().end();
}

Shape PartialShape::AsShape() const {
  if (!fully_known()) throw InvalidArgument("shape {} is not fully known", ToString());
  return Shape(dims());
}

int64_t PartialShape::num_elements() const {
  return fully_known() ? AsShape().num_elements() : kUnknown;
}

bool PartialShape::CompatibleWith(const PartialShape& other) const {
  if (!rank_known_ || !other.rank_known_) return true;
  return std::ranges::equal(dims(), other.dims(), [](int64_t a, int64_t b) {
    return a == b || a == kUnknown || b == kUnknown;
  });
}

PartialShape PartialShape::MergeWith(const PartialShape& other) const {
  if (!CompatibleWith(other)) {
    throw InvalidArgument("shapes {} and {} are not compatible", ToString(), other.ToString());
  }
  if (!rank_known_) return other;
  PartialShape merged = *this;
  if (!other.rank_known_) return merged;
  for (int i = 0; i < rank(); ++i) {
    if (merged[i] == kUnknown) merged.set_dim(i, other[i]);
  }
  return merged;
}

PartialShape PartialShape::RelaxWith(const PartialShape& other) const {
  if (!rank_known_ || !other.rank_known_ || rank() != other.rank()) return PartialShape();
  PartialShape relaxed = *this;
  for (int i = 0; i < rank(); ++i) {
    if (relaxed[i] != other[i]) relaxed.set_dim(i, kUnknown);
  }
  return relaxed;
}

bool PartialShape::operator==(const PartialShape& other) const {
  return rank_known_ == other.rank_known_ && std::ranges::equal(dims(), other.dims());
}

std::string PartialShape::ToString() const {
  if (!rank_known_) return "<unknown>";
  std::string text = "[";
  for (int i = 0; i < rank(); ++i) {
    if (i > 0) text += ',';
    text += dims_[i] == kUnknown ? "?" : std::to_string(dims_[i]);
  }
  return text + "]";
}

}  // namespace sextant
