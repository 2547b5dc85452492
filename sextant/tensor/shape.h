// Shape: the sizes of a tensor's dimensions. PartialShape: what is known of one before the graph
// runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

inline constexpr int kMaxRank = 254;  // TensorFlow's limit

// A small array of dimension sizes. Up to six live inside the object, so that copying the shape of
// an ordinary tensor allocates nothing.
class SEXTANT_API Dims {
 public:
  Dims() = default;
  Dims(const Dims& other) { Assign(other.data(), other.size_); }
  Dims(Dims&& other) noexcept { *this = std::move(other); }
  Dims& operator=(const Dims& other) {
    if (this != &other) Assign(other.data(), other.size_);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    size_ = std::exchange(other.size_, 0);
    std::copy(other.inline_, other.inline_ + kInline, inline_);
    heap_ = std::move(other.heap_);
    return *this;
  }

  int size() const { return size_; }
  const int64_t* data() const { return size_ <= kInline ? inline_ : heap_.get(); }
  int64_t* data() { return size_ <= kInline ? inline_ : heap_.get(); }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t& operator[](int i) { return data()[i]; }
  // Replaces the content. Throws INVALID_ARGUMENT above kMaxRank.
  void Assign(const int64_t* values, int count);
  void Insert(int position, int64_t value);
  void Erase(int position);  // the rank is one less

 private:
  static constexpr int kInline = 6;
  int size_ = 0;
  int64_t inline_[kInline] = {};
  std::unique_ptr<int64_t[]> heap_;
};

// A fully known shape. The default is a scalar's.
class SEXTANT_API Shape {
 public:
  Shape() = default;
  Shape(const Shape&) = default;
  Shape& operator=(const Shape&) = default;
  Shape(Shape&& other) noexcept
      : dims_(std::move(other.dims_)), num_elements_(std::exchange(other.num_elements_, 1)) {}
  Shape& operator=(Shape&& other) noexcept {
    dims_ = std::move(other.dims_);
    num_elements_ = std::exchange(other.num_elements_, 1);
    return *this;
  }
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  // Throws INVALID_ARGUMENT on a negative size or when the number of elements does not fit in
  // int64.
  explicit Shape(std::span<const int64_t> dims);
  explicit Shape(const std::vector<int64_t>& dims) : Shape(std::span<const int64_t>(dims)) {}

  int rank() const { return dims_.size(); }
  int64_t dim(int i) const { return dims_[i]; }
  int64_t operator[](int i) const { return dims_[i]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank())}; }
  int64_t num_elements() const { return num_elements_; }

  void set_dim(int i, int64_t size);  // keeps the rank
  void Append(int64_t size) { Insert(rank(), size); }
  void Insert(int position, int64_t size);  // before "position"
  void Erase(int position);                 // the rank is one less

  bool operator==(const Shape& other) const;
  std::string ToString() const;  // "[2,3]"; "[]" for a scalar

 private:
  void Recount();
  Dims dims_;
  int64_t num_elements_ = 1;
};

// A shape of which the rank or single sizes may be unknown (kUnknown). The default is of unknown
// rank.
class SEXTANT_API PartialShape {
 public:
  static constexpr int64_t kUnknown = -1;  // a size

  PartialShape() = default;
  PartialShape(std::initializer_list<int64_t> dims)
      : PartialShape(std::span(dims.begin(), dims.size())) {}
  // Sizes below -1 throw INVALID_ARGUMENT.
  explicit PartialShape(std::span<const int64_t> dims);
  explicit PartialShape(const std::vector<int64_t>& dims)
      : PartialShape(std::span<const int64_t>(dims)) {}
  PartialShape(const Shape& shape);  // NOLINT: every Shape is a PartialShape
  static PartialShape UnknownOfRank(int rank);

  bool rank_known() const { return rank_known_; }
  // REQUIRES: rank_known().
  int rank() const { return dims_.size(); }
  int64_t dim(int i) const { return dims_[i]; }
  int64_t operator[](int i) const { return dims_[i]; }
  std::span<const int64_t> dims() const { return {dims_.data(), static_cast<size_t>(rank())}; }
  void set_dim(int i, int64_t size) { dims_[i] = size; }
  void Append(int64_t size) { dims_.Insert(rank(), size); }
  void Insert(int position, int64_t size) { dims_.Insert(position, size); }
  void Erase(int position) { dims_.Erase(position); }

  bool fully_known() const;  // rank and all sizes
  // REQUIRES: fully_known().
  Shape AsShape() const;
  // Product of the sizes, or kUnknown.
  int64_t num_elements() const;

  // Whether some Shape satisfies both.
  bool CompatibleWith(const PartialShape& other) const;
  // What is known when both hold. Throws INVALID_ARGUMENT when they contradict.
  PartialShape MergeWith(const PartialShape& other) const;
  // What holds in either case: sizes that differ become unknown, ranks that differ an unknown rank.
  PartialShape RelaxWith(const PartialShape& other) const;

  bool operator==(const PartialShape& other) const;
  std::string ToString() const;  // "[?,3]", "<unknown>"

 private:
  bool rank_known_ = false;
  Dims dims_;
};

}  // namespace sextant

#pragma GCC visibility pop
