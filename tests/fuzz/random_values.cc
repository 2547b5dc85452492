#include "tests/fuzz/random_values.h"

#include <iterator>
#include <limits>

namespace sextant::fuzz {
namespace {

using proto::AttrValue;
using proto::DataType;
using proto::TensorProto;
using proto::TensorShapeProto;

constexpr int64_t kExtremes[] = {-1,
                                 std::numeric_limits<int32_t>::min(),
                                 std::numeric_limits<int32_t>::max(),
                                 std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max(),
                                 int64_t{1} << 32,
                                 int64_t{1} << 40,
                                 65536,
                                 1000,
                                 255,
                                 254,
                                 -2};
constexpr double kExtremeReals[] = {std::numeric_limits<double>::quiet_NaN(),
                                    std::numeric_limits<double>::infinity(),
                                    -std::numeric_limits<double>::infinity(),
                                    1e300,
                                    -1e30,
                                    1e-40,
                                    -0.0};
constexpr DataType kTypes[] = {proto::DT_FLOAT,      proto::DT_DOUBLE,    proto::DT_INT32,
                               proto::DT_UINT8,      proto::DT_INT16,     proto::DT_INT8,
                               proto::DT_STRING,     proto::DT_COMPLEX64, proto::DT_INT64,
                               proto::DT_BOOL,       proto::DT_BFLOAT16,  proto::DT_UINT16,
                               proto::DT_HALF,       proto::DT_RESOURCE,  proto::DT_VARIANT,
                               proto::DT_COMPLEX128, proto::DT_UINT32,    proto::DT_UINT64,
                               proto::DT_QINT8,      proto::DT_FLOAT_REF, proto::DT_FLOAT8_E5M2};

double RandomReal(Dice& dice) {
  return dice.OneIn(12) ? dice.Pick(kExtremeReals) : (dice.Below(65) - 32) / 8.0;
}

std::string RandomString(Dice& dice) {
  static const char* const kStrings[] = {"",   "a",        "0",        "ij,jk->ik", "...",
                                         "%d", "shortest", "\xff\xfe", "grad",      "a,b->"};
  return dice.Pick(kStrings);
}

void AddElement(Dice& dice, TensorProto* tensor) {
  switch (tensor->dtype()) {
    case proto::DT_FLOAT:
      tensor->add_float_val(static_cast<float>(RandomReal(dice)));
      break;
    case proto::DT_DOUBLE:
      tensor->add_double_val(RandomReal(dice));
      break;
    case proto::DT_INT64:
      tensor->add_int64_val(RandomInt(dice));
      break;
    case proto::DT_BOOL:
      tensor->add_bool_val(dice.OneIn(2));
      break;
    case proto::DT_STRING:
      tensor->add_string_val(RandomString(dice));
      break;
    case proto::DT_UINT32:
      tensor->add_uint32_val(static_cast<uint32_t>(RandomInt(dice)));
      break;
    case proto::DT_UINT64:
      tensor->add_uint64_val(static_cast<uint64_t>(RandomInt(dice)));
      break;
    case proto::DT_HALF:
    case proto::DT_BFLOAT16:
      tensor->add_half_val(static_cast<int32_t>(dice.Bits() & 0xffff));
      break;
    case proto::DT_COMPLEX64:
      for (int part = 0; part < 2; ++part)
        tensor->add_scomplex_val(static_cast<float>(RandomReal(dice)));
      break;
    case proto::DT_COMPLEX128:
      for (int part = 0; part < 2; ++part) tensor->add_dcomplex_val(RandomReal(dice));
      break;
    default:
      tensor->add_int_val(static_cast<int32_t>(RandomInt(dice)));
  }
}

// Sets the value, or adds it to the list, that an attribute of type "type" has.
void SetRandom(Dice& dice, const AttrDef& def, std::string_view type,
               const std::vector<std::string>& functions, AttrValue* attr) {
  if (type == "int") {
    attr->set_i(def.minimum && !dice.OneIn(10) ? *def.minimum + dice.Below(3) : RandomInt(dice));
  } else if (type == "float") {
    attr->set_f(static_cast<float>(RandomReal(dice)));
  } else if (type == "bool") {
    attr->set_b(dice.OneIn(2));
  } else if (type == "type") {
    attr->set_type(def.allowed_types.empty() ? RandomType(dice)
                                             : static_cast<DataType>(dice.Pick(def.allowed_types)));
  } else if (type == "shape") {
    *attr->mutable_shape() = RandomShape(dice);
  } else if (type == "tensor") {
    *attr->mutable_tensor() = RandomTensor(dice, RandomType(dice));
  } else if (type == "func") {
    attr->mutable_func()->set_name(functions.empty() ? "none" : dice.Pick(functions));
  } else {
    attr->set_s(def.allowed_strings.empty() ? RandomString(dice) : dice.Pick(def.allowed_strings));
  }
}

void AddToList(const AttrValue& value, AttrValue::ListValue* list) {
  switch (value.value_case()) {
    case AttrValue::kI:
      list->add_i(value.i());
      break;
    case AttrValue::kF:
      list->add_f(value.f());
      break;
    case AttrValue::kB:
      list->add_b(value.b());
      break;
    case AttrValue::kType:
      list->add_type(value.type());
      break;
    case AttrValue::kShape:
      *list->add_shape() = value.shape();
      break;
    case AttrValue::kTensor:
      *list->add_tensor() = value.tensor();
      break;
    case AttrValue::kFunc:
      *list->add_func() = value.func();
      break;
    default:
      list->add_s(value.s());
  }
}

void MutateList(Dice& dice, AttrValue::ListValue* list) {
  if (list->i_size() > 0) {
    const int i = dice.Below(list->i_size());
    if (dice.OneIn(4))
      list->add_i(RandomInt(dice));
    else if (dice.OneIn(4))
      list->mutable_i()->RemoveLast();
    else
      list->set_i(i, RandomInt(dice));
  } else if (list->type_size() > 0) {
    const int i = dice.Below(list->type_size());
    if (dice.OneIn(4))
      list->add_type(RandomType(dice));
    else if (dice.OneIn(4))
      list->mutable_type()->RemoveLast();
    else
      list->set_type(i, RandomType(dice));
  } else if (list->shape_size() > 0) {
    if (dice.OneIn(4))
      *list->add_shape() = RandomShape(dice);
    else
      MutateShape(dice, list->mutable_shape(dice.Below(list->shape_size())));
  } else {
    list->add_i(RandomInt(dice));
  }
}

}  // namespace

DataType RandomType(Dice& dice) {
  return dice.OneIn(3) ? dice.Pick(kTypes) : kTypes[dice.Below(3)];
}

int64_t RandomInt(Dice& dice) { return dice.OneIn(16) ? dice.Pick(kExtremes) : dice.Below(7) - 2; }

TensorShapeProto RandomShape(Dice& dice) {
  TensorShapeProto shape;
  if (dice.OneIn(12)) {
    shape.set_unknown_rank(true);
    return shape;
  }
  const int rank = dice.OneIn(20) ? dice.Below(12) : dice.Below(4);
  for (int i = 0; i < rank; ++i) {
    shape.add_dim()->set_size(dice.OneIn(60) ? RandomInt(dice) : dice.Below(rank > 4 ? 3 : 5));
  }
  return shape;
}

TensorProto RandomTensor(Dice& dice, DataType dtype) {
  TensorProto tensor;
  tensor.set_dtype(dtype);
  *tensor.mutable_tensor_shape() = RandomShape(dice);
  tensor.mutable_tensor_shape()->set_unknown_rank(false);
  int64_t elements = 1;
  for (const auto& dim : tensor.tensor_shape().dim()) {
    elements = dim.size() < 0 || dim.size() > 64 ? 4 : std::min<int64_t>(elements * dim.size(), 64);
  }
  if (dice.OneIn(4)) elements = std::min<int64_t>(elements, 1);
  for (int64_t i = 0; i < elements; ++i) AddElement(dice, &tensor);
  return tensor;
}

AttrValue RandomAttr(Dice& dice, const AttrDef& def, const std::vector<std::string>& functions) {
  AttrValue attr;
  const std::string_view type = def.type;
  if (!type.starts_with("list(")) {
    SetRandom(dice, def, type, functions, &attr);
    return attr;
  }
  AttrValue::ListValue* list = attr.mutable_list();
  const int count = static_cast<int>(std::min<int64_t>(def.minimum.value_or(0), 4)) + dice.Below(4);
  for (int i = 0; i < count; ++i) {
    AttrValue element;
    SetRandom(dice, def, type.substr(5, type.size() - 6), functions, &element);
    AddToList(element, list);
  }
  return attr;
}

void MutateShape(Dice& dice, TensorShapeProto* shape) {
  if (shape->dim_size() == 0 || dice.OneIn(4)) {
    *shape = RandomShape(dice);
  } else if (dice.OneIn(3)) {
    shape->mutable_dim()->RemoveLast();
  } else {
    shape->mutable_dim(dice.Below(shape->dim_size()))->set_size(RandomInt(dice));
  }
}

void MutateTensor(Dice& dice, TensorProto* tensor) {
  switch (dice.Below(4)) {
    case 0:
      *tensor = RandomTensor(dice, tensor->dtype());
      break;
    case 1:
      MutateShape(dice, tensor->mutable_tensor_shape());
      break;
    case 2:
      tensor->set_dtype(RandomType(dice));
      break;
    default:
      if (std::string* content = tensor->mutable_tensor_content(); !content->empty()) {
        (*content)[dice.Below(static_cast<int>(content->size()))] = static_cast<char>(dice.Bits());
      } else {
        AddElement(dice, tensor);
      }
  }
}

void MutateAttr(Dice& dice, AttrValue* attr, const std::vector<std::string>& functions) {
  switch (attr->value_case()) {
    case AttrValue::kI:
      attr->set_i(RandomInt(dice));
      break;
    case AttrValue::kF:
      attr->set_f(static_cast<float>(RandomReal(dice)));
      break;
    case AttrValue::kB:
      attr->set_b(!attr->b());
      break;
    case AttrValue::kType:
      attr->set_type(RandomType(dice));
      break;
    case AttrValue::kShape:
      MutateShape(dice, attr->mutable_shape());
      break;
    case AttrValue::kTensor:
      MutateTensor(dice, attr->mutable_tensor());
      break;
    case AttrValue::kList:
      MutateList(dice, attr->mutable_list());
      break;
    case AttrValue::kFunc:
      if (!functions.empty()) attr->mutable_func()->set_name(dice.Pick(functions));
      break;
    default:
      attr->set_s(RandomString(dice));
  }
}

}  // namespace sextant::fuzz
