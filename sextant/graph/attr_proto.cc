// Attr to and from AttrValue.
#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/attr.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::AttrValue;

DType TypeFromProto(int number) {
  if (number < 0 || number > 255) throw InvalidArgument("{} is not a data type", number);
  return static_cast<DType>(number);
}

bool HoldsVariants(const proto::TensorProto& proto) {
  return std::any_of(proto.variant_val().begin(), proto.variant_val().end(), [](const auto& v) {
    return !v.type_name().empty() || !v.metadata().empty() || v.tensors_size() > 0;
  });
}

// Bytes that all tensors together may take beyond the size of their protos: shapes, axes and names
// are small.
constexpr size_t kLeastExpansion = 256;

// The tensor, or an invalid one when Tensor cannot hold its element type or it takes more than
// *expansion bytes above those of its proto; they are subtracted. A run that needs it decodes it.
Tensor DecodeTensor(const proto::TensorProto& proto, size_t* expansion) {
  const size_t size = DTypeSize(TypeFromProto(proto.dtype()));
  if (size == 0 || HoldsVariants(proto)) return Tensor();
  const PartialShape shape = ShapeFromProto(proto.tensor_shape());
  const size_t encoded = proto.ByteSizeLong();
  const size_t most = encoded + std::max(*expansion, kLeastExpansion);
  if (shape.fully_known() && static_cast<size_t>(shape.num_elements()) > most / size) {
    return Tensor();
  }
  Tensor tensor = TensorFromProto(proto, most);
  if (tensor.bytes() > encoded) *expansion -= std::min(*expansion, tensor.bytes() - encoded);
  return tensor;
}

bool HasDimNames(const proto::TensorShapeProto& proto) {
  return std::any_of(proto.dim().begin(), proto.dim().end(),
                     [](const auto& dim) { return !dim.name().empty(); });
}

// Whether TensorToProto makes exactly this proto of its tensor: keeps one copy of large constants.
bool EncodesToItself(const proto::TensorProto& proto, const Tensor& tensor) {
  return tensor.valid() && IsPlain(tensor.dtype()) && tensor.num_elements() > 1 &&
         !proto.tensor_content().empty() && !HasDimNames(proto.tensor_shape()) &&
         proto.ByteSizeLong() <=
             proto.tensor_content().size() + proto.tensor_shape().ByteSizeLong() + 16 &&
         proto.version_number() == 0;
}

FuncAttr FuncFromProto(const proto::NameAttrList& proto) {
  FuncAttr func{.name = proto.name()};
  if (!proto.attr().empty()) {
    AttrMap attrs;
    for (const auto& [name, value] : proto.attr()) attrs.emplace_back(name, Attr::FromProto(value));
    std::sort(attrs.begin(), attrs.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    func.attrs = std::make_shared<AttrMap>(std::move(attrs));
  }
  return func;
}

void FuncToProto(const FuncAttr& func, proto::NameAttrList* proto) {
  proto->set_name(func.name);
  if (func.attrs == nullptr) return;
  for (const auto& [name, value] : *func.attrs) value.ToProto(&(*proto->mutable_attr())[name]);
}

template <typename T, typename List, typename Convert>
Attr::Value ListOf(const List& list, Convert convert) {
  std::vector<T> values;
  values.reserve(list.size());
  for (const auto& item : list) values.push_back(convert(item));
  return values;
}

Attr::Value DecodeList(const AttrValue::ListValue& list, size_t* expansion) {
  const int kinds = !list.s().empty() + !list.i().empty() + !list.f().empty() + !list.b().empty() +
                    !list.type().empty() + !list.shape().empty() + !list.tensor().empty() +
                    !list.func().empty();
  if (kinds == 0) return EmptyList();
  if (kinds > 1) throw InvalidArgument("a list holds elements of {} kinds", kinds);
  if (!list.s().empty()) return std::vector<std::string>(list.s().begin(), list.s().end());
  if (!list.i().empty()) return std::vector<int64_t>(list.i().begin(), list.i().end());
  if (!list.f().empty()) return std::vector<float>(list.f().begin(), list.f().end());
  if (!list.b().empty()) return std::vector<bool>(list.b().begin(), list.b().end());
  if (!list.type().empty()) return ListOf<DType>(list.type(), TypeFromProto);
  if (!list.shape().empty()) return ListOf<PartialShape>(list.shape(), ShapeFromProto);
  if (!list.tensor().empty()) {
    return ListOf<Tensor>(list.tensor(), [&](const auto& p) { return DecodeTensor(p, expansion); });
  }
  return ListOf<FuncAttr>(list.func(), FuncFromProto);
}

Attr::Value Decode(const AttrValue& proto, size_t* expansion) {
  switch (proto.value_case()) {
    case AttrValue::kS:
      return proto.s();
    case AttrValue::kI:
      return int64_t{proto.i()};
    case AttrValue::kF:
      return proto.f();
    case AttrValue::kB:
      return proto.b();
    case AttrValue::kType:
      return TypeFromProto(proto.type());
    case AttrValue::kShape:
      return ShapeFromProto(proto.shape());
    case AttrValue::kTensor:
      return DecodeTensor(proto.tensor(), expansion);
    case AttrValue::kList:
      return DecodeList(proto.list(), expansion);
    case AttrValue::kFunc:
      return FuncFromProto(proto.func());
    case AttrValue::kPlaceholder:
      return AttrPlaceholder{proto.placeholder()};
    case AttrValue::VALUE_NOT_SET:
      break;
  }
  return std::monostate();
}

bool MustKeepEncoded(const AttrValue& proto, const Attr::Value& value) {
  switch (proto.value_case()) {
    case AttrValue::kTensor:
      return !EncodesToItself(proto.tensor(), std::get<Tensor>(value));
    case AttrValue::kShape:
      return HasDimNames(proto.shape());
    case AttrValue::kList:
      return proto.list().tensor_size() > 0 ||
             std::any_of(proto.list().shape().begin(), proto.list().shape().end(), HasDimNames);
    default:
      return false;
  }
}

bool HasInvalidTensor(const Attr::Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return !tensor->valid();
  const auto* list = std::get_if<std::vector<Tensor>>(&value);
  return list &&
         std::any_of(list->begin(), list->end(), [](const Tensor& t) { return !t.valid(); });
}

struct Encoder {
  AttrValue* proto;

  void operator()(std::monostate) const {}
  void operator()(const std::string& value) const { proto->set_s(value); }
  void operator()(int64_t value) const { proto->set_i(value); }
  void operator()(float value) const { proto->set_f(value); }
  void operator()(bool value) const { proto->set_b(value); }
  void operator()(DType value) const { proto->set_type(static_cast<proto::DataType>(value)); }
  void operator()(const PartialShape& value) const { ShapeToProto(value, proto->mutable_shape()); }
  void operator()(const Tensor& value) const { TensorToProto(value, proto->mutable_tensor()); }
  void operator()(const FuncAttr& value) const { FuncToProto(value, proto->mutable_func()); }
  void operator()(const AttrPlaceholder& value) const { proto->set_placeholder(value.name); }
  void operator()(const EmptyList&) const { proto->mutable_list(); }
  template <typename T>
  void operator()(const std::vector<T>& values) const {
    AttrValue::ListValue* list = proto->mutable_list();
    for (const auto& value : values) Add(value, list);
  }

 private:
  static void Add(const std::string& value, AttrValue::ListValue* list) { list->add_s(value); }
  static void Add(int64_t value, AttrValue::ListValue* list) { list->add_i(value); }
  static void Add(float value, AttrValue::ListValue* list) { list->add_f(value); }
  static void Add(bool value, AttrValue::ListValue* list) { list->add_b(value); }
  static void Add(DType value, AttrValue::ListValue* list) {
    list->add_type(static_cast<proto::DataType>(value));
  }
  static void Add(const PartialShape& value, AttrValue::ListValue* list) {
    ShapeToProto(value, list->add_shape());
  }
  static void Add(const Tensor& value, AttrValue::ListValue* list) {
    TensorToProto(value, list->add_tensor());
  }
  static void Add(const FuncAttr& value, AttrValue::ListValue* list) {
    FuncToProto(value, list->add_func());
  }
};

}  // namespace

Attr Attr::FromProto(const AttrValue& proto, size_t expansion) {
  Attr attr(Decode(proto, &expansion));
  attr.undecoded_ = HasInvalidTensor(attr.value_);
  if (MustKeepEncoded(proto, attr.value_)) attr.encoded_ = std::make_shared<AttrValue>(proto);
  return attr;
}

void Attr::ToProto(AttrValue* proto) const {
  if (encoded_ != nullptr) {
    *proto = *encoded_;
  } else {
    proto->Clear();
    std::visit(Encoder{proto}, value_);
  }
}

}  // namespace sextant
