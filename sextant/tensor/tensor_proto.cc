#include "sextant/tensor/tensor_proto.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "sextant/proto/tensor.pb.h"

namespace sextant {
namespace {

using proto::TensorProto;

// Rule for a typed list: too long is cut, too short repeats its last value, empty means zeros.
// convert(i) gives the i-th of "count" listed values.
template <typename T, typename Convert>
void Fill(int count, Convert convert, Tensor* tensor) {
  const std::span<T> out = tensor->flat<T>();
  const size_t listed = std::min<size_t>(count, out.size());
  for (size_t i = 0; i < listed; ++i) out[i] = convert(static_cast<int>(i));
  if (listed > 0) std::fill(out.begin() + listed, out.end(), T(out[listed - 1]));
  if (listed == 0 && std::is_trivially_copyable_v<T>) std::fill(out.begin(), out.end(), T());
}

template <typename T, typename List>
void FillFrom(const List& list, Tensor* tensor) {
  Fill<T>(
      list.size(), [&](int i) { return static_cast<T>(list[i]); }, tensor);
}

template <typename T, typename List>
void FillBits(const List& list, Tensor* tensor) {
  Fill<T>(
      list.size(), [&](int i) { return T::FromBits(static_cast<uint16_t>(list[i])); }, tensor);
}

template <typename T, typename List>
void FillComplex(const List& list, Tensor* tensor) {
  if (list.size() % 2 != 0) {
    throw InvalidArgument("a complex TensorProto lists an odd number of parts: {}", list.size());
  }
  Fill<T>(
      list.size() / 2, [&](int i) { return T(list[2 * i], list[2 * i + 1]); }, tensor);
}

void FillHandles(const TensorProto& proto, Tensor* tensor) {
  const auto convert = [&](int i) {
    const auto& from = proto.resource_handle_val(i);
    return ResourceHandle{.device = from.device(),
                          .container = from.container(),
                          .name = from.name(),
                          .type_name = from.maybe_type_name()};
  };
  Fill<ResourceHandle>(proto.resource_handle_val_size(), convert, tensor);
}

void CheckVariants(const TensorProto& proto) {
  for (const auto& value : proto.variant_val()) {
    if (value.type_name().empty() && value.metadata().empty() && value.tensors().empty()) continue;
    throw Unimplemented("a variant of type '{}' cannot be read from a TensorProto",
                        value.type_name());
  }
}

// The integer type that holds the elements of a quantised one; any other type is its own.
DType StorageType(DType dtype) {
  switch (dtype) {
    case DType::kQInt8:
      return DType::kInt8;
    case DType::kQUInt8:
      return DType::kUInt8;
    case DType::kQInt16:
      return DType::kInt16;
    case DType::kQUInt16:
      return DType::kUInt16;
    case DType::kQInt32:
      return DType::kInt32;
    default:
      return dtype;
  }
}

// The values of a proto that has no tensor_content.
void FillFromLists(const TensorProto& proto, Tensor* tensor) {
  switch (tensor->dtype()) {
    case DType::kFloat:
      return FillFrom<float>(proto.float_val(), tensor);
    case DType::kDouble:
      return FillFrom<double>(proto.double_val(), tensor);
    case DType::kInt8:
      return FillFrom<int8_t>(proto.int_val(), tensor);
    case DType::kInt16:
      return FillFrom<int16_t>(proto.int_val(), tensor);
    case DType::kInt32:
      return FillFrom<int32_t>(proto.int_val(), tensor);
    case DType::kUInt8:
      return FillFrom<uint8_t>(proto.int_val(), tensor);
    case DType::kUInt16:
      return FillFrom<uint16_t>(proto.int_val(), tensor);
    case DType::kInt64:
      return FillFrom<int64_t>(proto.int64_val(), tensor);
    case DType::kUInt32:
      return FillFrom<uint32_t>(proto.uint32_val(), tensor);
    case DType::kUInt64:
      return FillFrom<uint64_t>(proto.uint64_val(), tensor);
    case DType::kBool:
      return FillFrom<bool>(proto.bool_val(), tensor);
    case DType::kString:
      return FillFrom<std::string>(proto.string_val(), tensor);
    case DType::kHalf:
      return FillBits<Half>(proto.half_val(), tensor);
    case DType::kBFloat16:
      return FillBits<BFloat16>(proto.half_val(), tensor);
    case DType::kComplex64:
      return FillComplex<std::complex<float>>(proto.scomplex_val(), tensor);
    case DType::kComplex128:
      return FillComplex<std::complex<double>>(proto.dcomplex_val(), tensor);
    case DType::kResource:
      return FillHandles(proto, tensor);
    case DType::kVariant:
      return CheckVariants(proto);
    default:
      throw Internal("no list of a TensorProto holds {}", DTypeName(tensor->dtype()));
  }
}

// As many varint lengths as there are strings, then all their bytes.
void FillStringsFromContent(const std::string& content, Tensor* tensor) {
  const auto bad = [&] {
    return InvalidArgument("the {} bytes of tensor_content do not hold a {}", content.size(),
                           tensor->Describe());
  };
  size_t position = 0;
  const auto read_length = [&] {
    uint64_t length = 0;
    for (int shift = 0; shift < 35; shift += 7) {
      if (position == content.size()) throw bad();
      const auto byte = static_cast<uint8_t>(content[position++]);
      length |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return length;
    }
    throw bad();
  };
  std::vector<uint64_t> lengths;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) lengths.push_back(read_length());
  auto* out = tensor->data<std::string>();
  for (const uint64_t length : lengths) {
    if (length > content.size() - position) throw bad();
    (out++)->assign(content, position, length);
    position += length;
  }
  if (position != content.size()) throw bad();
}

void FillFromContent(const std::string& content, Tensor* tensor) {
  std::memcpy(tensor->raw_data(), content.data(), content.size());
  // Any other byte in a bool is undefined behaviour when it is read.
  if (tensor->dtype() == DType::kBool) {
    auto* bytes = static_cast<uint8_t*>(tensor->raw_data());
    std::transform(bytes, bytes + content.size(), bytes, [](uint8_t b) { return b != 0; });
  }
}

// Before allocating, so that a few bytes cannot ask for much memory.
void CheckContentSize(DType dtype, const Shape& shape, size_t size) {
  const auto count = static_cast<size_t>(shape.num_elements());
  const bool fits =
      dtype == DType::kString ? size >= count : IsPlain(dtype) && size == count * DTypeSize(dtype);
  if (!fits) {
    throw InvalidArgument("{} bytes of tensor_content do not hold a {}{}", size, DTypeName(dtype),
                          shape.ToString());
  }
}

// The same of values that hold bytes of their own, of which the last may be repeated.
void CheckRepeatedSize(const TensorProto& proto, DType dtype, const Shape& shape,
                       size_t max_bytes) {
  const auto check = [&](const auto& list, const auto& size_of) {
    const auto count = static_cast<uint64_t>(shape.num_elements());
    if (list.empty() || count <= static_cast<uint64_t>(list.size())) return;
    const size_t size = size_of(*list.rbegin());
    if (size == 0 || count - list.size() <= max_bytes / size) return;
    throw InvalidArgument("a TensorProto of {}{} that repeats {} bytes exceeds {} bytes",
                          DTypeName(dtype), shape.ToString(), size, max_bytes);
  };
  if (dtype == DType::kString) {
    check(proto.string_val(), [](const std::string& text) { return text.size(); });
  } else if (dtype == DType::kResource) {
    check(proto.resource_handle_val(), [](const auto& handle) { return handle.ByteSizeLong(); });
  }
}

DType DTypeFromProto(const TensorProto& proto) {
  const int number = proto.dtype();
  const auto dtype = static_cast<DType>(number);
  if (number <= 0 || number > std::numeric_limits<uint8_t>::max() || DTypeSize(dtype) == 0) {
    throw InvalidArgument("a TensorProto has the type {}", number);
  }
  return dtype;
}

// One element of a plain type to the list of its type.
void AddToList(const Tensor& tensor, TensorProto* proto) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return proto->add_float_val(tensor.scalar<float>());
    case DType::kDouble:
      return proto->add_double_val(tensor.scalar<double>());
    case DType::kInt8:
      return proto->add_int_val(tensor.scalar<int8_t>());
    case DType::kInt16:
      return proto->add_int_val(tensor.scalar<int16_t>());
    case DType::kInt32:
      return proto->add_int_val(tensor.scalar<int32_t>());
    case DType::kUInt8:
      return proto->add_int_val(tensor.scalar<uint8_t>());
    case DType::kUInt16:
      return proto->add_int_val(tensor.scalar<uint16_t>());
    case DType::kInt64:
      return proto->add_int64_val(tensor.scalar<int64_t>());
    case DType::kUInt32:
      return proto->add_uint32_val(tensor.scalar<uint32_t>());
    case DType::kUInt64:
      return proto->add_uint64_val(tensor.scalar<uint64_t>());
    case DType::kBool:
      return proto->add_bool_val(tensor.scalar<bool>());
    case DType::kHalf:
      return proto->add_half_val(tensor.scalar<Half>().bits);
    case DType::kBFloat16:
      return proto->add_half_val(tensor.scalar<BFloat16>().bits);
    case DType::kComplex64:
      proto->add_scomplex_val(tensor.scalar<std::complex<float>>().real());
      return proto->add_scomplex_val(tensor.scalar<std::complex<float>>().imag());
    case DType::kComplex128:
      proto->add_dcomplex_val(tensor.scalar<std::complex<double>>().real());
      return proto->add_dcomplex_val(tensor.scalar<std::complex<double>>().imag());
    default:
      throw Internal("no list of a TensorProto holds {}", DTypeName(tensor.dtype()));
  }
}

}  // namespace

Tensor TensorFromProto(const TensorProto& proto, size_t max_bytes, Allocator& allocator) {
  const DType dtype = DTypeFromProto(proto);
  const PartialShape declared = ShapeFromProto(proto.tensor_shape());
  if (!declared.fully_known()) {
    throw InvalidArgument("a TensorProto has the shape {}", declared.ToString());
  }
  const Shape shape = declared.AsShape();
  if (static_cast<uint64_t>(shape.num_elements()) > max_bytes / DTypeSize(dtype)) {
    throw InvalidArgument("a TensorProto of {}{} exceeds {} bytes", DTypeName(dtype),
                          shape.ToString(), max_bytes);
  }
  const std::string& content = proto.tensor_content();
  if (content.empty()) {
    CheckRepeatedSize(proto, dtype, shape, max_bytes);
  } else {
    CheckContentSize(dtype, shape, content.size());
  }
  Tensor tensor(StorageType(dtype), shape, allocator);
  if (content.empty()) {
    FillFromLists(proto, &tensor);
  } else if (dtype == DType::kString) {
    FillStringsFromContent(content, &tensor);
  } else {
    FillFromContent(content, &tensor);
  }
  return IsPlain(dtype) ? tensor.BitCast(dtype) : tensor;
}

void TensorToProto(const Tensor& tensor, TensorProto* proto) {
  proto->Clear();
  if (!tensor.valid()) throw InvalidArgument("a tensor without a value has no TensorProto");
  proto->set_dtype(static_cast<proto::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), proto->mutable_tensor_shape());
  if (tensor.num_elements() == 0) return;
  if (tensor.dtype() == DType::kString) {
    for (const std::string& value : tensor.flat<std::string>()) proto->add_string_val(value);
  } else if (tensor.dtype() == DType::kResource) {
    for (const ResourceHandle& handle : tensor.flat<ResourceHandle>()) {
      auto* to = proto->add_resource_handle_val();
      to->set_device(handle.device);
      to->set_container(handle.container);
      to->set_name(handle.name);
      to->set_maybe_type_name(handle.type_name);
    }
  } else if (tensor.dtype() == DType::kVariant) {
    for (const Variant& value : tensor.flat<Variant>()) {
      if (!value.empty()) {
        throw Unimplemented("a variant of type {} has no TensorProto", value.type_name());
      }
      proto->add_variant_val();
    }
  } else if (tensor.num_elements() == 1) {
    AddToList(tensor.BitCast(StorageType(tensor.dtype())), proto);
  } else {
    proto->set_tensor_content(tensor.raw_data(), tensor.bytes());
  }
}

PartialShape ShapeFromProto(const proto::TensorShapeProto& proto) {
  if (proto.unknown_rank()) {
    if (proto.dim_size() > 0) throw InvalidArgument("a shape of unknown rank lists sizes");
    return PartialShape();
  }
  std::vector<int64_t> dims;
  for (const auto& dim : proto.dim()) dims.push_back(dim.size());
  return PartialShape(dims);
}

void ShapeToProto(const PartialShape& shape, proto::TensorShapeProto* proto) {
  proto->Clear();
  if (!shape.rank_known()) {
    proto->set_unknown_rank(true);
    return;
  }
  for (const int64_t size : shape.dims()) proto->add_dim()->set_size(size);
}

}  // namespace sextant
