#include "sextant/cli/python_value.h"

#include <fmt/format.h>

#include <map>

#include "sextant/proto/struct.pb.h"
#include "sextant/tensor/number_text.h"

namespace sextant::cli {
namespace {

using proto::StructuredValue;

// tf.DType names: NumPy's where NumPy has the type.
std::string PythonDType(proto::DataType type) {
  static const std::map<int, const char*> kNames = {
      {proto::DT_FLOAT, "float32"}, {proto::DT_DOUBLE, "float64"}, {proto::DT_HALF, "float16"}};
  const int base = type > 100 ? type - 100 : type;
  std::string name;
  if (const auto known = kNames.find(base); known != kNames.end()) {
    name = known->second;
  } else {
    const std::string enum_name = proto::DataType_Name(static_cast<proto::DataType>(base));
    for (const char c : enum_name.substr(enum_name.starts_with("DT_") ? 3 : 0)) {
      name += static_cast<char>(std::tolower(c));
    }
  }
  return type > 100 ? name + "_ref" : name;
}

std::string Dim(int64_t size) { return size < 0 ? "None" : fmt::format("{}", size); }

std::string Dims(const proto::TensorShapeProto& shape) {
  std::string text;
  for (const auto& dim : shape.dim()) text += (text.empty() ? "" : ", ") + Dim(dim.size());
  return text;
}

// str(TensorShape)
std::string PythonShape(const proto::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return "<unknown>";
  return fmt::format("({}{})", Dims(shape), shape.dim_size() == 1 ? "," : "");
}

template <typename Values>
std::string Join(const Values& values) {
  std::string text;
  for (const StructuredValue& value : values) {
    text += (text.empty() ? "" : ", ") + PythonRepr(value);
  }
  return text;
}

std::string TypeSpecName(const proto::TypeSpecProto& spec) {
  switch (spec.type_spec_class()) {
    case proto::TypeSpecProto::SPARSE_TENSOR_SPEC:
      return "SparseTensorSpec";
    case proto::TypeSpecProto::INDEXED_SLICES_SPEC:
      return "IndexedSlicesSpec";
    case proto::TypeSpecProto::RAGGED_TENSOR_SPEC:
      return "RaggedTensorSpec";
    case proto::TypeSpecProto::TENSOR_ARRAY_SPEC:
      return "TensorArraySpec";
    case proto::TypeSpecProto::DATA_DATASET_SPEC:
      return "DatasetSpec";
    case proto::TypeSpecProto::VARIABLE_SPEC:
      return "VariableSpec";
    default:
      return spec.type_spec_class_name();
  }
}

}  // namespace

std::string PythonRepr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string repr(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') {
      repr += {'\\', c};
    } else if (c == '\n') {
      repr += "\\n";
    } else if (c == '\r') {
      repr += "\\r";
    } else if (c == '\t') {
      repr += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      repr += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      repr += c;
    }
  }
  return repr + quote;
}

std::string PythonRepr(const proto::TensorSpecProto& spec) {
  return fmt::format("TensorSpec(shape={}, dtype=tf.{}, name={})", PythonShape(spec.shape()),
                     PythonDType(spec.dtype()),
                     spec.name().empty() ? "None" : PythonRepr(spec.name()));
}

std::string PythonRepr(const StructuredValue& value) {
  switch (value.kind_case()) {
    case StructuredValue::kFloat64Value:
      return RealText(value.float64_value());
    case StructuredValue::kInt64Value:
      return fmt::format("{}", value.int64_value());
    case StructuredValue::kStringValue:
      return PythonRepr(std::string_view(value.string_value()));
    case StructuredValue::kBoolValue:
      return value.bool_value() ? "True" : "False";
    case StructuredValue::kTensorShapeValue:
      return value.tensor_shape_value().unknown_rank()
                 ? "TensorShape(None)"
                 : fmt::format("TensorShape([{}])", Dims(value.tensor_shape_value()));
    case StructuredValue::kTensorDtypeValue:
      return "tf." + PythonDType(value.tensor_dtype_value());
    case StructuredValue::kTensorSpecValue:
      return PythonRepr(value.tensor_spec_value());
    case StructuredValue::kTypeSpecValue:
      return TypeSpecName(value.type_spec_value()) +
             PythonRepr(value.type_spec_value().type_state());
    case StructuredValue::kListValue:
      return fmt::format("[{}]", Join(value.list_value().values()));
    case StructuredValue::kTupleValue:
      return fmt::format("({}{})", Join(value.tuple_value().values()),
                         value.tuple_value().values_size() == 1 ? "," : "");
    case StructuredValue::kDictValue: {
      std::map<std::string, std::string> items;
      for (const auto& [key, item] : value.dict_value().fields()) items[key] = PythonRepr(item);
      std::string text;
      for (const auto& [key, item] : items) {
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", PythonRepr(std::string_view(key)),
                            item);
      }
      return fmt::format("{{{}}}", text);
    }
    case StructuredValue::kNamedTupleValue: {
      std::string text;
      for (const auto& pair : value.named_tuple_value().values()) {
        text +=
            fmt::format("{}{}={}", text.empty() ? "" : ", ", pair.key(), PythonRepr(pair.value()));
      }
      return fmt::format("{}({})", value.named_tuple_value().name(), text);
    }
    default:
      return "None";
  }
}

std::string PythonStr(const StructuredValue& value) {
  if (value.has_string_value()) return value.string_value();
  if (value.has_tensor_shape_value()) return PythonShape(value.tensor_shape_value());
  if (value.has_tensor_dtype_value()) {
    return fmt::format("<dtype: '{}'>", PythonDType(value.tensor_dtype_value()));
  }
  return PythonRepr(value);
}

std::string PythonTypeName(const StructuredValue& value) {
  switch (value.kind_case()) {
    case StructuredValue::kFloat64Value:
      return "float";
    case StructuredValue::kInt64Value:
      return "int";
    case StructuredValue::kStringValue:
      return "str";
    case StructuredValue::kBoolValue:
      return "bool";
    case StructuredValue::kTensorShapeValue:
      return "TensorShape";
    case StructuredValue::kTensorDtypeValue:
      return "DType";
    case StructuredValue::kTensorSpecValue:
      return "TensorSpec";
    case StructuredValue::kTypeSpecValue:
      return TypeSpecName(value.type_spec_value());
    case StructuredValue::kListValue:
      return "list";
    case StructuredValue::kTupleValue:
      return "tuple";
    case StructuredValue::kDictValue:
      return "dict";
    case StructuredValue::kNamedTupleValue:
      return value.named_tuple_value().name();
    default:
      return "NoneType";
  }
}

}  // namespace sextant::cli
