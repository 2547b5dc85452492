// Tensor: an element type, a shape and a share in a Buffer. Copies are cheap and share the
// elements.
//
// Not synchronised: a tensor that several threads hold may be read by all, written by none.
#pragma once

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/export.h"
#include "sextant/tensor/buffer.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/handle.h"
#include "sextant/tensor/shape.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API Tensor {
 public:
  // No value: dtype() is kInvalid, valid() false.
  Tensor() = default;
  Tensor(const Tensor&) = default;
  Tensor& operator=(const Tensor&) = default;
  // What is moved from has no value.
  Tensor(Tensor&& other) noexcept
      : dtype_(std::exchange(other.dtype_, DType::kInvalid)),
        shape_(std::move(other.shape_)),
        data_(std::exchange(other.data_, nullptr)),
        buffer_(std::move(other.buffer_)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    dtype_ = std::exchange(other.dtype_, DType::kInvalid);
    shape_ = std::move(other.shape_);
    data_ = std::exchange(other.data_, nullptr);
    buffer_ = std::move(other.buffer_);
    return *this;
  }
  // Elements of plain types are not initialised; strings, handles and variants are empty.
  Tensor(DType dtype, Shape shape, Allocator& allocator = HostAllocator());
  // A view of plain elements inside "buffer", starting "offset" bytes into it.
  // REQUIRES: the elements fit; IsPlain(dtype).
  Tensor(DType dtype, Shape shape, BufferRef buffer, size_t offset);

  // Scalars.
  Tensor(float value);        // NOLINT
  Tensor(double value);       // NOLINT
  Tensor(int32_t value);      // NOLINT
  Tensor(int64_t value);      // NOLINT
  Tensor(bool value);         // NOLINT
  Tensor(const char* value);  // NOLINT
  Tensor(std::string value);  // NOLINT
  template <typename T>
  static Tensor Scalar(T value);

  // Tensor::Of<float>({1, 2, 3}) is a vector; Tensor::Of<float>({2, 2}, {1, 2, 3, 4}) a matrix.
  template <typename T>
  static Tensor Of(std::initializer_list<T> values);
  template <typename T>
  static Tensor Of(const Shape& shape, std::initializer_list<T> values);
  template <typename T>
  static Tensor FromSpan(const Shape& shape, std::span<const T> values);
  template <typename T>
  static Tensor FromVector(const std::vector<T>& values);
  // All elements zero (false, empty).
  static Tensor Zeros(DType dtype, const Shape& shape);

  bool valid() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int i) const { return shape_.dim(i); }
  int64_t num_elements() const { return shape_.num_elements(); }
  size_t bytes() const { return static_cast<size_t>(num_elements()) * DTypeSize(dtype_); }

  // The elements in row-major order. Throws INVALID_ARGUMENT when T is not the element type.
  template <typename T>
  T* data();
  template <typename T>
  const T* data() const;
  template <typename T>
  std::span<T> flat() {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  std::span<const T> flat() const {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  // The only element. Throws INVALID_ARGUMENT unless there is exactly one.
  template <typename T>
  const T& scalar() const;
  void* raw_data() { return data_; }
  const void* raw_data() const { return data_; }

  // The value of a scalar or one-element tensor of any real type as double / int64 (int32 or
  // int64).
  double AsDouble() const;
  int64_t AsInt64() const;
  // Elements of an int32 or int64 tensor, e.g. a shape or a list of axes.
  std::vector<int64_t> AsInt64s() const;

  // The same elements seen with another shape. Throws INVALID_ARGUMENT when the counts differ.
  Tensor Reshaped(Shape shape) const;
  // Rows [begin, end) of the first dimension, sharing the buffer.
  Tensor Rows(int64_t begin, int64_t end) const;
  // The same bits as another plain type of the same size.
  Tensor BitCast(DType dtype) const;
  // A copy of its own.
  Tensor Clone(Allocator& allocator = HostAllocator()) const;
  // *this, or a copy when the buffer is transient: what a kernel may keep after its step.
  Tensor Persistent() const;

  const BufferRef& buffer() const { return buffer_; }
  bool SharesBufferWith(const Tensor& other) const {  // at any place in it
    return buffer_ && buffer_.get() == other.buffer_.get();
  }
  // Nobody else holds the elements, so they may be overwritten.
  bool unique() const { return buffer_ && buffer_->unique(); }

  // Same dtype, shape and elements (bit for bit for plain types).
  bool Identical(const Tensor& other) const;

  // As numpy prints: nested brackets, aligned columns, "..." when over 1,000 elements.
  std::string ToString() const;
  // "float[2,3]"
  std::string Describe() const;

 private:
  void CheckType(DType wanted) const {
    if (wanted != dtype_) [[unlikely]]
      ThrowWrongType(wanted);
  }
  [[noreturn]] void ThrowWrongType(DType wanted) const;
  [[noreturn]] void ThrowNotScalar() const;
  [[noreturn]] static void ThrowWrongCount(const Shape& shape, size_t count);

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  void* data_ = nullptr;
  BufferRef buffer_;
};

template <typename T>
T* Tensor::data() {
  CheckType(DTypeOf<T>);
  return static_cast<T*>(data_);
}
template <typename T>
const T* Tensor::data() const {
  CheckType(DTypeOf<T>);
  return static_cast<const T*>(data_);
}
template <typename T>
const T& Tensor::scalar() const {
  if (num_elements() != 1) [[unlikely]]
    ThrowNotScalar();
  return *data<T>();
}
template <typename T>
Tensor Tensor::Scalar(T value) {
  Tensor t(DTypeOf<T>, Shape());
  *t.data<T>() = std::move(value);
  return t;
}
template <typename T>
Tensor Tensor::FromSpan(const Shape& shape, std::span<const T> values) {
  if (static_cast<size_t>(shape.num_elements()) != values.size())
    ThrowWrongCount(shape, values.size());
  Tensor t(DTypeOf<T>, shape);
  std::copy(values.begin(), values.end(), t.data<T>());
  return t;
}
template <typename T>
Tensor Tensor::Of(const Shape& shape, std::initializer_list<T> values) {
  return FromSpan<T>(shape, std::span<const T>(values.begin(), values.size()));
}
template <typename T>
Tensor Tensor::Of(std::initializer_list<T> values) {
  return Of<T>(Shape{static_cast<int64_t>(values.size())}, values);
}
template <typename T>
Tensor Tensor::FromVector(const std::vector<T>& values) {
  const Shape shape{static_cast<int64_t>(values.size())};
  if constexpr (std::is_same_v<T, bool>) {
    Tensor t(DType::kBool, shape);
    std::copy(values.begin(), values.end(), t.data<bool>());
    return t;
  } else {
    return FromSpan<T>(shape, values);
  }
}

}  // namespace sextant

#pragma GCC visibility pop
