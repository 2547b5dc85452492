#include "sextant/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace sextant {
namespace {

// Holds elements that need constructing and destroying.
template <typename T>
class ObjectBuffer : public Buffer {
 public:
  ObjectBuffer(void* data, size_t count, Allocator& allocator)
      : Buffer(data, count * sizeof(T)), allocator_(allocator) {
    std::uninitialized_value_construct_n(static_cast<T*>(data), count);
  }

 private:
  ~ObjectBuffer() override {
    std::destroy_n(static_cast<T*>(data()), size() / sizeof(T));
    allocator_.Free(data(), size());
  }

  Allocator& allocator_;
};

template <typename T>
BufferRef NewObjectBuffer(size_t count, Allocator& allocator) {
  return BufferRef(new ObjectBuffer<T>(allocator.Allocate(count * sizeof(T)), count, allocator));
}

BufferRef NewElements(DType dtype, const Shape& shape, Allocator& allocator) {
  const auto count = static_cast<size_t>(shape.num_elements());
  const size_t size = DTypeSize(dtype);
  if (size == 0) throw InvalidArgument("there are no tensors of type {}", DTypeName(dtype));
  if (count > SIZE_MAX / 2 / size) {
    throw ResourceExhausted("a tensor {}{} is too large", DTypeName(dtype), shape.ToString());
  }
  switch (dtype) {
    case DType::kString:
      return NewObjectBuffer<std::string>(count, allocator);
    case DType::kResource:
      return NewObjectBuffer<ResourceHandle>(count, allocator);
    case DType::kVariant:
      return NewObjectBuffer<Variant>(count, allocator);
    default:
      return NewBuffer(count * size, allocator);
  }
}

template <typename T>
void CopyObjects(const Tensor& from, Tensor* to) {
  std::ranges::copy(from.flat<T>(), to->data<T>());
}

bool SameHandle(const ResourceHandle& a, const ResourceHandle& b) {
  return a.resource == b.resource && a.device == b.device && a.container == b.container &&
         a.name == b.name && a.type_name == b.type_name;
}

// Calls visit with the first element of a tensor of real numbers.
template <typename Visit>
auto VisitFirst(const Tensor& t, Visit visit) {
  switch (t.dtype()) {
    case DType::kFloat:
      return visit(*t.data<float>());
    case DType::kDouble:
      return visit(*t.data<double>());
    case DType::kHalf:
      return visit(static_cast<float>(*t.data<Half>()));
    case DType::kBFloat16:
      return visit(static_cast<float>(*t.data<BFloat16>()));
    case DType::kInt8:
      return visit(*t.data<int8_t>());
    case DType::kInt16:
      return visit(*t.data<int16_t>());
    case DType::kInt32:
      return visit(*t.data<int32_t>());
    case DType::kInt64:
      return visit(*t.data<int64_t>());
    case DType::kUInt8:
      return visit(*t.data<uint8_t>());
    case DType::kUInt16:
      return visit(*t.data<uint16_t>());
    case DType::kUInt32:
      return visit(*t.data<uint32_t>());
    case DType::kUInt64:
      return visit(*t.data<uint64_t>());
    case DType::kBool:
      return visit(*t.data<bool>());
    default:
      throw InvalidArgument("{} is not a number", t.Describe());
  }
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape, Allocator& allocator)
    : dtype_(dtype), shape_(std::move(shape)), buffer_(NewElements(dtype_, shape_, allocator)) {
  data_ = buffer_->data();
}

Tensor::Tensor(DType dtype, Shape shape, BufferRef buffer, size_t offset)
    : dtype_(dtype),
      shape_(std::move(shape)),
      data_(static_cast<char*>(buffer->data()) + offset),
      buffer_(std::move(buffer)) {}

Tensor::Tensor(float value) : Tensor(Scalar(value)) {}
Tensor::Tensor(double value) : Tensor(Scalar(value)) {}
Tensor::Tensor(int32_t value) : Tensor(Scalar(value)) {}
Tensor::Tensor(int64_t value) : Tensor(Scalar(value)) {}
Tensor::Tensor(bool value) : Tensor(Scalar(value)) {}
Tensor::Tensor(const char* value) : Tensor(Scalar(std::string(value))) {}
Tensor::Tensor(std::string value) : Tensor(Scalar(std::move(value))) {}

Tensor Tensor::Zeros(DType dtype, const Shape& shape) {
  Tensor t(dtype, shape);
  if (IsPlain(dtype)) std::memset(t.raw_data(), 0, t.bytes());
  return t;
}

double Tensor::AsDouble() const {
  if (num_elements() != 1) ThrowNotScalar();
  return VisitFirst(*this, [](auto value) { return static_cast<double>(value); });
}

int64_t Tensor::AsInt64() const {
  if (num_elements() != 1) ThrowNotScalar();
  return AsInt64s()[0];
}

std::vector<int64_t> Tensor::AsInt64s() const {
  if (dtype_ == DType::kInt32) {
    const auto values = flat<int32_t>();
    return {values.begin(), values.end()};
  }
  if (dtype_ != DType::kInt64) throw InvalidArgument("{} is neither int32 nor int64", Describe());
  const auto values = flat<int64_t>();
  return {values.begin(), values.end()};
}

Tensor Tensor::Reshaped(Shape shape) const {
  if (shape.num_elements() != num_elements()) {
    throw InvalidArgument("cannot reshape {} to {}", Describe(), shape.ToString());
  }
  Tensor t;
  t.dtype_ = dtype_;
  t.shape_ = std::move(shape);
  t.data_ = data_;
  t.buffer_ = buffer_;
  return t;
}

Tensor Tensor::Rows(int64_t begin, int64_t end) const {
  if (rank() == 0) throw InvalidArgument("a scalar has no rows");
  if (begin < 0 || begin > end || end > dim(0)) {
    throw InvalidArgument("rows [{},{}) are not in {}", begin, end, Describe());
  }
  const size_t row_bytes = dim(0) == 0 ? 0 : bytes() / static_cast<size_t>(dim(0));
  Tensor t = *this;
  t.shape_.set_dim(0, end - begin);
  t.data_ = static_cast<char*>(data_) + static_cast<size_t>(begin) * row_bytes;
  return t;
}

Tensor Tensor::BitCast(DType dtype) const {
  if (!IsPlain(dtype_) || !IsPlain(dtype) || DTypeSize(dtype) != DTypeSize(dtype_)) {
    throw InvalidArgument("cannot see {} as {}", Describe(), DTypeName(dtype));
  }
  Tensor t = *this;
  t.dtype_ = dtype;
  return t;
}

Tensor Tensor::Clone(Allocator& allocator) const {
  if (!valid()) return Tensor();
  Tensor t(dtype_, shape_, allocator);
  switch (dtype_) {
    case DType::kString:
      CopyObjects<std::string>(*this, &t);
      break;
    case DType::kResource:
      CopyObjects<ResourceHandle>(*this, &t);
      break;
    case DType::kVariant:
      CopyObjects<Variant>(*this, &t);
      break;
    default:
      if (bytes() > 0) std::memcpy(t.data_, data_, bytes());
  }
  return t;
}

Tensor Tensor::Persistent() const { return buffer_ && buffer_->transient() ? Clone() : *this; }

bool Tensor::Identical(const Tensor& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  switch (dtype_) {
    case DType::kInvalid:
      return true;
    case DType::kString:
      return std::ranges::equal(flat<std::string>(), other.flat<std::string>());
    case DType::kResource:
      return std::ranges::equal(flat<ResourceHandle>(), other.flat<ResourceHandle>(), SameHandle);
    case DType::kVariant:
      return data_ == other.data_ ||
             std::ranges::equal(flat<Variant>(), other.flat<Variant>(),
                                [](auto& a, auto& b) { return a.SharesValueWith(b); });
    default:
      return bytes() == 0 || std::memcmp(data_, other.data_, bytes()) == 0;
  }
}

std::string Tensor::Describe() const {
  return valid() ? DTypeName(dtype_) + shape_.ToString() : "no tensor";
}

void Tensor::ThrowWrongType(DType wanted) const {
  throw InvalidArgument("{} was read as {}", Describe(), DTypeName(wanted));
}

void Tensor::ThrowNotScalar() const {
  throw InvalidArgument("{} was read as a single value", Describe());
}

void Tensor::ThrowWrongCount(const Shape& shape, size_t count) {
  throw InvalidArgument("shape {} does not hold {} values", shape.ToString(), count);
}

}  // namespace sextant
