#include "sextant/cli/train/instance_value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/base/base64.h"
#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;

// The elements of nested lists in order, and how the lists nest: [[1, 2, 3]] is 1 by 3.
void Flatten(const Json& value, size_t depth, std::vector<int64_t>* dims,
             std::vector<const Json*>* elements) {
  if (!value.is_array()) {
    if (depth != dims->size()) throw InvalidArgument("its lists are not all alike");
    elements->push_back(&value);
    return;
  }
  const auto size = static_cast<int64_t>(value.size());
  if (elements->empty() && depth == dims->size()) dims->push_back(size);
  if (depth >= dims->size() || (*dims)[depth] != size) {
    throw InvalidArgument("its lists are not all alike");
  }
  for (const Json& item : value) Flatten(item, depth + 1, dims, elements);
}

std::string TextOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.size() == 1 && value.contains("b64") && value["b64"].is_string()) {
    auto text = value["b64"].get<std::string>();
    std::replace(text.begin(), text.end(), '+', '-');
    std::replace(text.begin(), text.end(), '/', '_');
    std::string bytes;
    DecodeBase64(text, &bytes);
    return bytes;
  }
  throw InvalidArgument("{} is no text", value.dump());
}

template <typename T>
T NumberOf(const Json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    if (value.is_boolean()) return value.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    if (value.is_number_integer()) return value.get<T>();
    if (value.is_number_float() && value.get<double>() == static_cast<double>(value.get<T>())) {
      return value.get<T>();
    }
  } else {
    if (value.is_number()) return value.get<T>();
  }
  throw InvalidArgument("{} is no {}", value.dump(), DTypeName(DTypeOf<T>));
}

template <typename T>
void Fill(const std::vector<const Json*>& elements, int64_t at, Tensor* tensor) {
  for (const Json* element : elements) {
    if constexpr (std::is_same_v<T, std::string>) {
      tensor->data<T>()[at++] = TextOf(*element);
    } else {
      tensor->data<T>()[at++] = NumberOf<T>(*element);
    }
  }
}

void FillAny(const std::vector<const Json*>& elements, int64_t at, Tensor* tensor) {
  switch (tensor->dtype()) {
    case DType::kFloat:
      return Fill<float>(elements, at, tensor);
    case DType::kDouble:
      return Fill<double>(elements, at, tensor);
    case DType::kInt32:
      return Fill<int32_t>(elements, at, tensor);
    case DType::kInt64:
      return Fill<int64_t>(elements, at, tensor);
    case DType::kUInt8:
      return Fill<uint8_t>(elements, at, tensor);
    case DType::kBool:
      return Fill<bool>(elements, at, tensor);
    case DType::kString:
      return Fill<std::string>(elements, at, tensor);
    default:
      throw Unimplemented("inputs of type {} cannot be read", DTypeName(tensor->dtype()));
  }
}

// The shape of one instance: as it is written, or as the signature has it when both have one
// element.
std::vector<int64_t> InstanceShape(const SignatureTensor& input, std::vector<int64_t> written) {
  if (!input.shape.rank_known() || input.shape.rank() == 0) return written;
  const auto dims = input.shape.dims().subspan(1);
  const auto fits = [](int64_t wanted, int64_t is) { return wanted < 0 || wanted == is; };
  if (std::equal(dims.begin(), dims.end(), written.begin(), written.end(), fits)) return written;
  const auto is_one = [](int64_t size) { return size == 1 || size == -1; };
  if (std::all_of(dims.begin(), dims.end(), is_one) &&
      std::all_of(written.begin(), written.end(), is_one)) {
    return std::vector<int64_t>(dims.size(), 1);
  }
  throw InvalidArgument("its shape is [{}], not [{}]", fmt::join(written, ","),
                        fmt::join(dims, ","));
}

}  // namespace

Tensor InstanceTensor(const std::string& key, const SignatureTensor& input,
                      const std::vector<Json>& values, const std::vector<std::string>& places) {
  Tensor tensor;
  std::vector<int64_t> shape;
  int64_t at = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    try {
      std::vector<int64_t> written;
      std::vector<const Json*> elements;
      Flatten(values[i], 0, &written, &elements);
      std::vector<int64_t> own = InstanceShape(input, std::move(written));
      if (i == 0) {
        shape = own;
        own.insert(own.begin(), static_cast<int64_t>(values.size()));
        tensor = Tensor(input.dtype, Shape(own));
      } else if (own != shape) {
        throw InvalidArgument("its shape is another one than that of the instances before");
      }
      FillAny(elements, at, &tensor);
      at += static_cast<int64_t>(elements.size());
    } catch (const Error& error) {
      throw error.WithPrefix(fmt::format("{}: '{}': ", places[i], key));
    }
  }
  return tensor;
}

Json FieldValue(const std::string& key, const SignatureTensor& input, const std::string& field,
                const std::string& place) {
  if (input.dtype == DType::kString) return field;
  int64_t integer = 0;
  double number = 0;
  if (ParseNumber(field, &integer)) return integer;
  if (!field.empty() && ParseNumber(field, &number)) return number;
  if (field.empty()) {
    throw InvalidArgument(
        "{}: column '{}' is empty and has no default; give one with --default {}=VALUE", place, key,
        key);
  }
  throw InvalidArgument("{}: column '{}' holds '{}', which is no {}", place, key, field,
                        DTypeName(input.dtype));
}

Json DefaultValue(const std::string& key, const SignatureTensor& input,
                  const std::map<std::string, std::string>& defaults) {
  const auto given = defaults.find(key);
  if (given != defaults.end()) return FieldValue(key, input, given->second, "--default");
  const Tensor& own = input.default_value;
  if (!own.valid() || own.num_elements() != 1) return nullptr;
  if (own.dtype() == DType::kString) return own.flat<std::string>()[0];
  if (own.dtype() == DType::kBool) return own.flat<bool>()[0];
  if (IsInteger(own.dtype())) return static_cast<int64_t>(own.AsDouble());
  return own.AsDouble();
}

}  // namespace sextant::cli
