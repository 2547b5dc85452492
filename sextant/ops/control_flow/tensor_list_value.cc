#include "sextant/ops/control_flow/tensor_list_value.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "sextant/ops/control_flow/optional_value.h"

namespace sextant {

namespace {

template <typename T>
Tensor AddAs(const Tensor& a, const Tensor& b) {
  Tensor sum(a.dtype(), a.shape());
  const T *x = a.data<T>(), *y = b.data<T>();
  T* z = sum.data<T>();
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      z[i] = T(static_cast<float>(x[i]) + static_cast<float>(y[i]));
    } else if constexpr (std::is_integral_v<T>) {  // wraps round
      z[i] = static_cast<T>(static_cast<uint64_t>(x[i]) + static_cast<uint64_t>(y[i]));
    } else {
      z[i] = x[i] + y[i];
    }
  }
  return sum;
}

Variant AddValues(const Variant& a, const Variant& b) {
  const TensorList *x = a.Get<TensorList>(), *y = b.Get<TensorList>();
  if (!x || !y) return x ? a : b;  // an empty optional, or a list that was never made
  if (x->dtype != y->dtype || x->size() != y->size()) {
    throw InvalidArgument("cannot add a list of {} {} and one of {} {}", x->size(),
                          DTypeName(x->dtype), y->size(), DTypeName(y->dtype));
  }
  TensorList sum{x->dtype, x->element_shape.MergeWith(y->element_shape), x->max_num_elements, {}};
  sum.elements.reserve(x->elements.size());
  for (size_t i = 0; i < x->elements.size(); ++i) {
    const Tensor &left = x->elements[i], &right = y->elements[i];
    sum.elements.push_back(!left.valid() ? right : !right.valid() ? left : AddTensors(left, right));
  }
  return Variant::Of(std::move(sum));
}

Variant ZerosLikeValue(const Variant& value) {
  if (const auto* optional = value.Get<OptionalValue>()) {
    OptionalValue zeros = *optional;
    for (Tensor& tensor : zeros.components) {
      tensor = tensor.dtype() == DType::kVariant ? ZerosLikeVariant(tensor)
                                                 : Tensor::Zeros(tensor.dtype(), tensor.shape());
    }
    return Variant::Of(std::move(zeros));
  }
  const TensorList* list = value.Get<TensorList>();
  if (!list) return Variant();
  TensorList zeros{list->dtype, list->element_shape, list->max_num_elements, {}};
  for (const Tensor& element : list->elements) {
    if (!element.valid()) {
      zeros.elements.emplace_back();
    } else if (element.dtype() == DType::kVariant) {
      zeros.elements.push_back(ZerosLikeVariant(element));
    } else {
      zeros.elements.push_back(Tensor::Zeros(element.dtype(), element.shape()));
    }
  }
  return Variant::Of(std::move(zeros));
}

}  // namespace

PartialShape TensorList::MergedShape(const PartialShape& shape) const {
  PartialShape merged = element_shape.MergeWith(shape);
  if (merged.fully_known()) return merged;
  for (const Tensor& element : elements) {
    if (element.valid()) merged = merged.MergeWith(element.shape());
  }
  return merged;
}

void TensorList::CheckElement(const Tensor& tensor) const {
  if (tensor.dtype() != dtype) {
    throw InvalidArgument("Invalid data types; list elements {}, but the item is {}",
                          DTypeName(dtype), DTypeName(tensor.dtype()));
  }
  if (!element_shape.CompatibleWith(tensor.shape())) {
    throw InvalidArgument("Tried to set an item of shape {} in a list of elements of shape {}",
                          tensor.shape().ToString(), element_shape.ToString());
  }
}

const TensorList& ListOf(const Tensor& handle) {
  if (handle.dtype() != DType::kVariant || handle.num_elements() != 1) {
    throw InvalidArgument("Input handle must be a scalar variant, got {}", handle.Describe());
  }
  const TensorList* list = handle.data<Variant>()->Get<TensorList>();
  if (!list) throw InvalidArgument("Input handle is not a list");
  return *list;
}

Tensor ListTensor(TensorList list) { return Tensor::Scalar(Variant::Of(std::move(list))); }

TensorList& MutableList(Tensor& handle) {
  const TensorList& shared = ListOf(handle);
  if (handle.unique()) {
    if (TensorList* list = handle.data<Variant>()->GetIfUnique<TensorList>()) return *list;
  }
  handle = ListTensor(shared);
  return *handle.data<Variant>()->GetIfUnique<TensorList>();
}

Tensor AddVariants(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) {
    throw InvalidArgument("cannot add variants of shapes {} and {}", a.shape().ToString(),
                          b.shape().ToString());
  }
  Tensor sum(DType::kVariant, a.shape());
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    sum.data<Variant>()[i] = AddValues(a.data<Variant>()[i], b.data<Variant>()[i]);
  }
  return sum;
}

void AddToVariants(Tensor& sum, const Tensor& value) {
  TensorList* list = nullptr;
  if (sum.num_elements() == 1 && sum.unique())
    list = sum.data<Variant>()->GetIfUnique<TensorList>();
  const TensorList* other =
      value.num_elements() == 1 ? value.data<Variant>()->Get<TensorList>() : nullptr;
  if (!list || !other || list->size() != other->size() || list->dtype != other->dtype) {
    sum = AddVariants(sum, value);
    return;
  }
  for (size_t i = 0; i < other->elements.size(); ++i) {
    const Tensor& term = other->elements[i];
    if (!term.valid()) continue;
    Tensor& element = list->elements[i];
    element = element.valid() ? AddTensors(element, term) : term;
  }
}

Tensor ZerosLikeVariant(const Tensor& value) {
  Tensor zeros(DType::kVariant, value.shape());
  std::ranges::transform(value.flat<Variant>(), zeros.data<Variant>(), ZerosLikeValue);
  return zeros;
}

Tensor AddTensors(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) {
    throw InvalidArgument("cannot add {} and {}", a.Describe(), b.Describe());
  }
  switch (a.dtype()) {
    case DType::kFloat:
      return AddAs<float>(a, b);
    case DType::kDouble:
      return AddAs<double>(a, b);
    case DType::kHalf:
      return AddAs<Half>(a, b);
    case DType::kBFloat16:
      return AddAs<BFloat16>(a, b);
    case DType::kComplex64:
      return AddAs<std::complex<float>>(a, b);
    case DType::kComplex128:
      return AddAs<std::complex<double>>(a, b);
    case DType::kInt8:
      return AddAs<int8_t>(a, b);
    case DType::kInt16:
      return AddAs<int16_t>(a, b);
    case DType::kInt32:
      return AddAs<int32_t>(a, b);
    case DType::kInt64:
      return AddAs<int64_t>(a, b);
    case DType::kUInt8:
      return AddAs<uint8_t>(a, b);
    case DType::kVariant:
      return AddVariants(a, b);
    default:
      throw InvalidArgument("cannot add tensors of type {}", DTypeName(a.dtype()));
  }
}

void CopyElements(const Tensor& part, Tensor& whole, int64_t offset) {
  switch (whole.dtype()) {
    case DType::kString:
      std::ranges::copy(part.flat<std::string>(), whole.data<std::string>() + offset);
      break;
    case DType::kVariant:
      std::ranges::copy(part.flat<Variant>(), whole.data<Variant>() + offset);
      break;
    case DType::kResource:
      std::ranges::copy(part.flat<ResourceHandle>(), whole.data<ResourceHandle>() + offset);
      break;
    default:
      if (part.bytes() == 0) return;
      std::memcpy(static_cast<char*>(whole.raw_data()) + offset * DTypeSize(whole.dtype()),
                  part.raw_data(), part.bytes());
  }
}

PartialShape PartialShapeFromTensor(const Tensor& tensor) {
  const std::vector<int64_t> sizes = tensor.AsInt64s();
  if (tensor.rank() == 0) {
    if (sizes[0] != -1) {
      throw InvalidArgument("The only valid scalar shape tensor is -1, got {}", sizes[0]);
    }
    return PartialShape();
  }
  if (tensor.rank() != 1) {
    throw InvalidArgument("A shape must be a vector, got {}", tensor.Describe());
  }
  return PartialShape(sizes);
}

}  // namespace sextant
