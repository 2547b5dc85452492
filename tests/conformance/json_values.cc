#include "tests/conformance/json_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sextant/base/base64.h"
#include "sextant/base/file_system.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;

// Python's names of the element types, where ours differ.
std::string PythonName(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return "float32";
    case DType::kDouble:
      return "float64";
    case DType::kHalf:
      return "float16";
    default:
      return DTypeName(dtype);
  }
}

std::string StringDifference(const Tensor& actual, const json& values) {
  if (values.is_null()) return "";  // too many to be listed
  const auto strings = actual.flat<std::string>();
  for (size_t i = 0; i < strings.size(); ++i) {
    const std::string expected = JsonBytes(values.at(i));
    if (strings[i] != expected) {
      return fmt::format("element {} is '{}', expected '{}'", i, strings[i], expected);
    }
  }
  return "";
}

// Of real numbers, which are compared as they are printed.
std::string NumberDifference(const Tensor& actual, const json& values) {
  for (int64_t i = 0; i < actual.num_elements(); ++i) {
    const double value = actual.Reshaped({actual.num_elements()}).Rows(i, i + 1).AsDouble();
    const double expected = JsonNumber(values.at(i));
    if (value != expected && !(std::isnan(value) && std::isnan(expected))) {
      return fmt::format("element {} is {}, expected {}", i, value, expected);
    }
  }
  return "";
}

}  // namespace

std::string Sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest;
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Internal("SHA-256 of {} bytes failed", bytes.size());
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

double JsonNumber(const json& value) {
  if (value.is_number()) return value.get<double>();
  const auto& text = value.get_ref<const std::string&>();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return text == "inf" ? infinity : -infinity;
}

std::string JsonBytes(const json& value) {
  if (value.contains("utf8")) return value["utf8"].get<std::string>();
  std::string text = value.at("base64").get<std::string>(), bytes;
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  DecodeBase64(text, &bytes);
  return bytes;
}

json ReadJson(const std::string& path) {
  const std::string text = FileSystem::ForPath(path).ReadFile(path);
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) throw InvalidArgument("{} is not JSON", path);
  return value;
}

bool Has(const json& object, const char* key) {
  return object.contains(key) && !object[key].is_null();
}

template <typename T>
T JsonOr(const json& object, const char* key, T otherwise) {
  return Has(object, key) ? object[key].get<T>() : otherwise;
}
template bool JsonOr(const json&, const char*, bool);
template int64_t JsonOr(const json&, const char*, int64_t);
template double JsonOr(const json&, const char*, double);
template std::string JsonOr(const json&, const char*, std::string);

std::string Difference(const Tensor& actual, const json& entry) {
  if (PythonName(actual.dtype()) != entry.at("dtype").get<std::string>()) {
    return fmt::format("dtype is {}, expected {}", DTypeName(actual.dtype()),
                       entry["dtype"].get<std::string>());
  }
  const Shape shape(entry.at("shape").get<std::vector<int64_t>>());
  if (actual.shape() != shape) {
    return fmt::format("shape is {}, expected {}", actual.shape().ToString(), shape.ToString());
  }
  if (!entry.contains("sha256") && actual.dtype() != DType::kString) {
    return NumberDifference(actual, entry.at("values"));
  }
  if (actual.dtype() == DType::kString) {
    if (!entry.contains("sha256")) return StringDifference(actual, entry.at("values"));
    return Sha256(actual.scalar<std::string>()) == entry["sha256"] ? "" : "another string";
  }
  const auto* bytes = static_cast<const char*>(actual.raw_data());
  const std::string digest = Sha256({bytes, actual.bytes()});
  if (digest == entry.at("sha256").get<std::string>()) return "";
  return fmt::format("{} has other elements than expected {}", actual.Describe(),
                     entry.value("values", json()).dump());
}

}  // namespace sextant::conformance
