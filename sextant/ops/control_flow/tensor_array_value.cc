#include "sextant/ops/control_flow/tensor_array_value.h"

#include "sextant/ops/control_flow/tensor_list_value.h"

namespace sextant {

TensorArray::TensorArray(std::string name, TensorArrayTraits traits, int64_t size)
    : name_(std::move(name)), traits_(std::move(traits)) {
  if (size < 0) throw InvalidArgument("TensorArray size must be non-negative, got {}", size);
  Resize(size);
}

void TensorArray::CheckOpen() const {
  if (closed_) throw InvalidArgument("TensorArray {} has already been closed.", name_);
}

void TensorArray::Resize(int64_t size) {
  // Elements are small, but a size of 2^31 that comes from data must not take all memory.
  constexpr int64_t kMaxElements = int64_t{1} << 27;
  if (size > kMaxElements) {
    throw ResourceExhausted("TensorArray {} cannot have {} elements", name_, size);
  }
  elements_.resize(size);
}

int64_t TensorArray::Size() {
  const std::lock_guard lock(mutex_);
  CheckOpen();
  return static_cast<int64_t>(elements_.size());
}

PartialShape TensorArray::ElementShape() {
  const std::lock_guard lock(mutex_);
  return traits_.element_shape;
}

void TensorArray::EnsureSize(int64_t size) {
  const std::lock_guard lock(mutex_);
  CheckOpen();
  if (traits_.dynamic_size && size > static_cast<int64_t>(elements_.size())) Resize(size);
}

void TensorArray::Write(int64_t index, const Tensor& value) {
  const std::lock_guard lock(mutex_);
  CheckOpen();
  const auto size = static_cast<int64_t>(elements_.size());
  if (index < 0 || (index >= size && !traits_.dynamic_size)) {
    throw InvalidArgument(
        "TensorArray {}: Tried to write to index {} but array is not resizeable and size is: {}",
        name_, index, size);
  }
  if (value.dtype() != traits_.dtype) {
    throw InvalidArgument(
        "TensorArray {}: Could not write to TensorArray index {} because the value dtype is {} but "
        "TensorArray dtype is {}.",
        name_, index, DTypeName(value.dtype()), DTypeName(traits_.dtype));
  }
  if (!traits_.element_shape.CompatibleWith(value.shape())) {
    throw InvalidArgument(
        "TensorArray {}: Could not write to TensorArray index {} because the value shape is {} "
        "which is "
        "incompatible with the TensorArray's inferred element shape: {}",
        name_, index, value.shape().ToString(), traits_.element_shape.ToString());
  }
  if (index >= size) Resize(index + 1);
  Element& element = elements_[index];
  if (element.read) {
    throw InvalidArgument(
        "TensorArray {}: Could not write twice to TensorArray index {} because it has already been "
        "read.",
        name_, index);
  }
  if (element.written && !traits_.adds_up) {
    throw InvalidArgument(
        "TensorArray {}: Could not write to TensorArray index {} because it has already been "
        "written to.",
        name_, index);
  }
  if (traits_.adds_up && element.shape && !(*element.shape == value.shape())) {
    throw InvalidArgument(
        "TensorArray {}: Could not aggregate to TensorArray index {} because the existing shape is "
        "{} but the new input shape is {}.",
        name_, index, element.shape->ToString(), value.shape().ToString());
  }
  if (traits_.identical_element_shapes && !traits_.element_shape.fully_known()) {
    traits_.element_shape = value.shape();
  }
  element.value = element.written ? AddTensors(element.value, value) : value.Persistent();
  element.shape = value.shape();  // outlives the value, for the gradient array
  element.written = true;
}

Tensor TensorArray::Read(int64_t index) {
  const std::lock_guard lock(mutex_);
  CheckOpen();
  const auto size = static_cast<int64_t>(elements_.size());
  if (index < 0 || index >= size) {
    throw InvalidArgument("TensorArray {}: Tried to read from index {} but array size is: {}",
                          name_, index, size);
  }
  Element& element = elements_[index];
  if (element.cleared) {
    throw InvalidArgument(
        "TensorArray {}: Could not read index {} twice because it was cleared after a previous "
        "read "
        "(perhaps try setting clear_after_read = false?)",
        name_, index);
  }
  if (!element.written) {
    if (!element.shape && !traits_.element_shape.fully_known()) {
      throw InvalidArgument(
          "TensorArray {}: Could not read from TensorArray index {}: it was not written, and the "
          "element "
          "shape is not fully defined: {}",
          name_, index, traits_.element_shape.ToString());
    }
    element.value = Tensor::Zeros(traits_.dtype,
                                  element.shape ? *element.shape : traits_.element_shape.AsShape());
    element.written = true;
  }
  element.read = true;
  if (!traits_.clear_after_read) return element.value;
  element.cleared = true;
  return std::move(element.value);
}

std::shared_ptr<TensorArray> TensorArray::Gradient(const std::string& source,
                                                   const Shape& prepend) {
  const std::lock_guard lock(mutex_);
  CheckOpen();
  traits_.dynamic_size = false;
  std::shared_ptr<TensorArray>& gradient = gradients_[source];
  if (gradient) return gradient;
  const auto prepended = [&](PartialShape shape) {
    if (!shape.rank_known()) return shape;
    for (int i = 0; i < prepend.rank(); ++i) shape.Insert(i, prepend[i]);
    return shape;
  };
  TensorArrayTraits traits = traits_;
  traits.element_shape = prepended(traits_.element_shape);
  traits.clear_after_read = true;
  traits.adds_up = true;
  gradient = std::make_shared<TensorArray>(name_ + "@" + source, std::move(traits),
                                           static_cast<int64_t>(elements_.size()));
  for (size_t i = 0; i < elements_.size(); ++i) {
    const Element& element = elements_[i];
    if (element.shape) gradient->elements_[i].shape = prepended(*element.shape).AsShape();
  }
  return gradient;
}

void TensorArray::Close() {
  const std::lock_guard lock(mutex_);
  elements_.clear();
  gradients_.clear();
  closed_ = true;
}

}  // namespace sextant
