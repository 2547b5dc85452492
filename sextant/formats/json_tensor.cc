#include "sextant/formats/json_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "sextant/base/base64.h"
#include "sextant/base/error.h"
#include "sextant/base/printable.h"

namespace sextant {
namespace {

template <typename T>
bool InRange(int64_t value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return value >= 0;
  } else {
    return value >= int64_t{std::numeric_limits<T>::min()} &&
           value <= int64_t{std::numeric_limits<T>::max()};
  }
}

}  // namespace

void JsonTensorBuilder::ThrowNot(std::string_view shown) const {
  throw InvalidArgument("{} is no {}", ShownName(shown), DTypeName(dtype_));
}

template <typename T>
void JsonTensorBuilder::Push(T value) {
  Leaf();
  if (!buffer_ || used_ + sizeof value > buffer_->size()) {
    BufferRef larger = NewBuffer(std::max<size_t>(256, 2 * used_));
    if (used_ > 0) std::memcpy(larger->data(), buffer_->data(), used_);
    buffer_ = std::move(larger);
  }
  std::memcpy(static_cast<char*>(buffer_->data()) + used_, &value, sizeof value);
  used_ += sizeof value;
  EndOfItem();
}

void JsonTensorBuilder::PushText(std::string text) {
  Leaf();
  texts_.push_back(std::move(text));
  EndOfItem();
}

void JsonTensorBuilder::Leaf() {
  const int depth = static_cast<int>(counts_.size());
  if (rank_ < 0) {
    rank_ = depth;
    dims_.resize(depth, -1);
  }
  if (depth != rank_) {
    throw InvalidArgument("the lists are ragged: an element {} deep, where others are {} deep",
                          depth, rank_);
  }
}

void JsonTensorBuilder::StartList() {
  const int depth = static_cast<int>(counts_.size());
  if (rank_ >= 0 && depth >= rank_) {
    throw InvalidArgument("the lists are ragged: a list {} deep, where others have elements",
                          depth);
  }
  counts_.push_back(0);
}

void JsonTensorBuilder::EndList() {
  const int64_t count = counts_.back();
  counts_.pop_back();
  const size_t depth = counts_.size();
  if (rank_ < 0) {  // an empty list
    rank_ = static_cast<int>(depth) + 1;
    dims_.resize(rank_, -1);
  }
  if (dims_[depth] < 0) dims_[depth] = count;
  if (dims_[depth] != count) {
    throw InvalidArgument("the lists are ragged: dimension {} has {} elements, others have {}",
                          depth, count, dims_[depth]);
  }
  EndOfItem();
}

void JsonTensorBuilder::EndOfItem() {
  if (counts_.empty()) {
    ++num_values_;
  } else {
    ++counts_.back();
  }
}

void JsonTensorBuilder::Bool(bool value) {
  if (dtype_ != DType::kBool) ThrowNot(value ? "true" : "false");
  Push(value);
}

void JsonTensorBuilder::Integer(int64_t value) {
  const auto push = [&]<typename T>(T) {
    if (!InRange<T>(value)) {
      throw InvalidArgument("{} is out of the range of {}", value, DTypeName(dtype_));
    }
    Push(static_cast<T>(value));
  };
  switch (dtype_) {
    case DType::kFloat:
      return Push(static_cast<float>(value));
    case DType::kDouble:
      return Push(static_cast<double>(value));
    case DType::kInt32:
      return push(int32_t());
    case DType::kInt64:
      return Push(value);
    case DType::kInt16:
      return push(int16_t());
    case DType::kInt8:
      return push(int8_t());
    case DType::kUInt8:
      return push(uint8_t());
    case DType::kUInt16:
      return push(uint16_t());
    case DType::kUInt32:
      return push(uint32_t());
    case DType::kUInt64:
      return push(uint64_t());
    case DType::kBool:
    case DType::kString:
      ThrowNot(fmt::format("{}", value));
    default:
      throw Unimplemented("inputs of type {} have no form in JSON", DTypeName(dtype_));
  }
}

void JsonTensorBuilder::Unsigned(uint64_t value) {
  if (dtype_ == DType::kUInt64) return Push(value);
  Real(static_cast<double>(value));
}

void JsonTensorBuilder::Real(double value) {
  switch (dtype_) {
    case DType::kFloat:
      return Push(static_cast<float>(value));
    case DType::kDouble:
      return Push(value);
    default:
      break;
  }
  // 3.0 stands for 3.
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (IsInteger(dtype_) && std::trunc(value) == value) {
    if (value >= -kTwoTo63 && value < kTwoTo63) return Integer(static_cast<int64_t>(value));
    throw InvalidArgument("{} is out of the range of {}", value, DTypeName(dtype_));
  }
  ThrowNot(fmt::format("{}", value));
}

void JsonTensorBuilder::String(std::string_view text) {
  if (dtype_ != DType::kString) ThrowNot(fmt::format("the text \"{}\"", text));
  PushText(std::string(text));
}

void JsonTensorBuilder::Base64(std::string_view text) {
  if (dtype_ != DType::kString) ThrowNot("{\"b64\": ...}");
  std::string safe(text), bytes;
  std::replace(safe.begin(), safe.end(), '+', '-');
  std::replace(safe.begin(), safe.end(), '/', '_');
  DecodeBase64(safe, &bytes);
  PushText(std::move(bytes));
}

Tensor JsonTensorBuilder::Take(const Shape& shape) {
  if (dtype_ == DType::kString) {
    Tensor tensor(dtype_, shape);
    std::move(texts_.begin(), texts_.end(), tensor.data<std::string>());
    return tensor;
  }
  if (!IsPlain(dtype_)) {
    throw Unimplemented("inputs of type {} have no form in JSON", DTypeName(dtype_));
  }
  if (!buffer_) return Tensor(dtype_, shape);  // no elements
  return Tensor(dtype_, shape, std::move(buffer_), 0);
}

Tensor JsonTensorBuilder::TakeRows(const PartialShape& wanted) {
  Shape shape(dims_);
  shape.Insert(0, num_values_);
  if (wanted.rank_known() && wanted.rank() > 0 && wanted.rank() != shape.rank()) {
    const auto is_one = [](int64_t size) { return size == 1 || size == -1; };
    const auto own = wanted.dims().subspan(1);
    if (std::all_of(own.begin(), own.end(), is_one) &&
        std::all_of(dims_.begin(), dims_.end(), is_one)) {
      shape = Shape{num_values_};
      while (shape.rank() < wanted.rank()) shape.Append(1);
    }
  }
  return Take(shape);
}

Tensor JsonTensorBuilder::TakeValue() { return Take(Shape(dims_)); }

}  // namespace sextant
