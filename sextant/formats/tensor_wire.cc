#include "sextant/formats/tensor_wire.h"

#include <cstring>

#include "sextant/base/error.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/wire.h"
#include "sextant/formats/wire_writer.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/float16.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

// Field numbers of TensorProto.
constexpr uint32_t kDType = 1, kShape = 2, kContent = 4, kFloats = 5, kDoubles = 6, kInts = 7,
                   kStrings = 8, kInt64s = 10, kBools = 11, kHalves = 13, kUInt32s = 16,
                   kUInt64s = 17;

// The sizes of a serialized TensorShapeProto. False for what is not fully known.
bool ReadDims(std::string_view bytes, std::vector<int64_t>* dims) {
  WireReader shape(bytes);
  while (shape.Next()) {
    if (shape.Is(3, WireType::kVarint) && shape.number() != 0) return false;  // unknown rank
    if (!shape.Is(2, WireType::kBytes)) continue;
    int64_t size = 0;
    WireReader dim(shape.bytes());
    while (dim.Next()) {
      if (dim.Is(1, WireType::kVarint)) size = static_cast<int64_t>(dim.number());
    }
    if (!dim.ok() || size < 0) return false;
    dims->push_back(size);
  }
  return shape.ok() && dims->size() <= static_cast<size_t>(kMaxRank);
}

Tensor FromMessage(std::string_view bytes) {
  proto::TensorProto message;
  if (!TryParseMessage(bytes, &message)) {
    throw InvalidArgument("{} bytes are no TensorProto", bytes.size());
  }
  return TensorFromProto(message, bytes.size() + kMostFilledBytes);
}

template <typename T>
void AppendRaw(uint32_t field, const Tensor& tensor, std::string* bytes) {
  AppendWireTag(field, WireType::kBytes, bytes);
  AppendWireVarint(tensor.bytes(), bytes);
  bytes->append(reinterpret_cast<const char*>(tensor.data<T>()), tensor.bytes());
}

template <typename T>
void AppendVarints(uint32_t field, const Tensor& tensor, std::string* bytes) {
  std::string packed;
  for (const T& value : tensor.flat<T>()) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      AppendWireVarint(value.bits, &packed);
    } else if constexpr (std::is_signed_v<T>) {
      AppendWireVarint(static_cast<uint64_t>(static_cast<int64_t>(value)), &packed);
    } else {
      AppendWireVarint(value, &packed);
    }
  }
  AppendWireBytes(field, packed, bytes);
}

void AppendElements(const Tensor& tensor, std::string* bytes) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return AppendRaw<float>(kFloats, tensor, bytes);
    case DType::kDouble:
      return AppendRaw<double>(kDoubles, tensor, bytes);
    case DType::kInt32:
      return AppendVarints<int32_t>(kInts, tensor, bytes);
    case DType::kInt16:
      return AppendVarints<int16_t>(kInts, tensor, bytes);
    case DType::kInt8:
      return AppendVarints<int8_t>(kInts, tensor, bytes);
    case DType::kUInt8:
      return AppendVarints<uint8_t>(kInts, tensor, bytes);
    case DType::kUInt16:
      return AppendVarints<uint16_t>(kInts, tensor, bytes);
    case DType::kInt64:
      return AppendVarints<int64_t>(kInt64s, tensor, bytes);
    case DType::kBool:
      return AppendVarints<bool>(kBools, tensor, bytes);
    case DType::kHalf:
      return AppendVarints<Half>(kHalves, tensor, bytes);
    case DType::kBFloat16:
      return AppendVarints<BFloat16>(kHalves, tensor, bytes);
    case DType::kUInt32:
      return AppendVarints<uint32_t>(kUInt32s, tensor, bytes);
    case DType::kUInt64:
      return AppendVarints<uint64_t>(kUInt64s, tensor, bytes);
    case DType::kString:
      for (const std::string& text : tensor.flat<std::string>()) {
        AppendWireBytes(kStrings, text, bytes);
      }
      return;
    default:
      throw Unimplemented("outputs of type {} cannot be sent", DTypeName(tensor.dtype()));
  }
}

}  // namespace

Tensor TensorFromWire(std::string_view bytes) {
  WireReader reader(bytes);
  std::string_view content;
  uint64_t dtype = 0;
  std::vector<int64_t> dims;
  bool plain = true;
  while (reader.Next()) {
    if (reader.Is(kDType, WireType::kVarint)) {
      plain = plain && content.empty();  // floats may have been taken by an earlier dtype
      dtype = reader.number();
    } else if (reader.Is(kShape, WireType::kBytes)) {
      plain = plain && dims.empty() && ReadDims(reader.bytes(), &dims);
    } else if (reader.Is(kContent, WireType::kBytes)) {
      content = reader.bytes();
    } else if (reader.Is(kFloats, WireType::kBytes) && content.empty() && dtype == 1) {
      content = reader.bytes();  // packed: the elements as they lie in memory
    } else if (reader.field() > kContent) {
      plain = false;
    }
  }
  if (!reader.ok()) throw InvalidArgument("{} bytes are no TensorProto", bytes.size());
  const auto type = static_cast<DType>(dtype);
  if (!plain || content.empty() || dtype > 23 || type == DType::kBool || !IsPlain(type)) {
    return FromMessage(bytes);
  }
  const Shape shape(dims);
  const auto size = static_cast<__int128>(shape.num_elements()) * DTypeSize(type);
  if (size != static_cast<__int128>(content.size())) return FromMessage(bytes);
  Tensor tensor(type, shape);
  std::memcpy(tensor.raw_data(), content.data(), content.size());
  return tensor;
}

void AppendTensorWire(const Tensor& tensor, std::string* bytes) {
  AppendWireNumber(kDType, static_cast<uint64_t>(tensor.dtype()), bytes);
  std::string shape;
  for (const int64_t size : tensor.shape().dims()) {
    std::string dim;
    AppendWireNumber(1, static_cast<uint64_t>(size), &dim);
    AppendWireBytes(2, dim, &shape);
  }
  AppendWireBytes(kShape, shape, bytes);
  if (tensor.num_elements() > 0) AppendElements(tensor, bytes);
}

}  // namespace sextant
