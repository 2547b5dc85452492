#include "sextant/testing/case_values.h"

#include <charconv>
#include <cmath>

namespace sextant::testing {
namespace {

// Calls f.operator()<T>() with the C++ type of the numbers.
template <typename F>
void ForNumber(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat:
      return f.template operator()<float>();
    case DType::kDouble:
      return f.template operator()<double>();
    case DType::kHalf:
      return f.template operator()<Half>();
    case DType::kBFloat16:
      return f.template operator()<BFloat16>();
    case DType::kInt8:
      return f.template operator()<int8_t>();
    case DType::kInt16:
      return f.template operator()<int16_t>();
    case DType::kInt32:
      return f.template operator()<int32_t>();
    case DType::kInt64:
      return f.template operator()<int64_t>();
    case DType::kUInt8:
      return f.template operator()<uint8_t>();
    case DType::kUInt16:
      return f.template operator()<uint16_t>();
    case DType::kUInt32:
      return f.template operator()<uint32_t>();
    case DType::kUInt64:
      return f.template operator()<uint64_t>();
    case DType::kComplex64:
      return f.template operator()<std::complex<float>>();
    case DType::kComplex128:
      return f.template operator()<std::complex<double>>();
    default:
      throw InvalidArgument("{} has no numbers", DTypeName(dtype));
  }
}

template <typename T>
T FromDouble(double value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> ||
                std::is_same_v<T, std::complex<float>>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

template <typename T>
T FromText(const std::string& text) {
  if constexpr (std::is_integral_v<T>) {
    T value{};
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec == std::errc() && result.ptr == text.data() + text.size()) return value;
  } else {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);  // knows nan and inf too
    if (!text.empty() && *end == '\0') return FromDouble<T>(value);
  }
  throw InvalidArgument("'{}' is not a {}", text, DTypeName(DTypeOf<T>));
}

}  // namespace

CaseRandom::CaseRandom(std::string_view seed_text) : state_(0xcbf29ce484222325) {
  for (const char c : seed_text) state_ = (state_ ^ static_cast<uint8_t>(c)) * 0x100000001b3;
}

double CaseRandom::Uniform() {
  // SplitMix64.
  uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

Tensor RandomTensor(DType dtype, const Shape& shape, double low, double high, CaseRandom& random) {
  Tensor tensor(dtype, shape);
  if (dtype == DType::kBool) {
    for (bool& value : tensor.flat<bool>()) value = random.Uniform() < 0.5;
    return tensor;
  }
  ForNumber(dtype, [&]<typename T>() {
    for (T& value : tensor.flat<T>()) {
      const double u = random.Uniform();
      value = FromDouble<T>(std::is_integral_v<T> ? std::floor(low + u * (high - low + 1))
                                                  : low + u * (high - low));
    }
  });
  return tensor;
}

Tensor LiteralTensor(DType dtype, const Shape& shape, std::span<const std::string> elements) {
  if (shape.num_elements() != static_cast<int64_t>(elements.size())) {
    throw InvalidArgument("{} elements for shape {}", elements.size(), shape.ToString());
  }
  if (dtype == DType::kString) return Tensor::FromSpan<std::string>(shape, elements);
  Tensor tensor(dtype, shape);
  if (dtype == DType::kBool) {
    for (size_t i = 0; i < elements.size(); ++i) {
      if (elements[i] != "true" && elements[i] != "false") {
        throw InvalidArgument("'{}' is not a bool", elements[i]);
      }
      tensor.data<bool>()[i] = elements[i] == "true";
    }
    return tensor;
  }
  ForNumber(dtype, [&]<typename T>() {
    for (size_t i = 0; i < elements.size(); ++i) tensor.data<T>()[i] = FromText<T>(elements[i]);
  });
  return tensor;
}

std::complex<double> ElementAsComplex(const Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::kBool) return tensor.data<bool>()[i];
  std::complex<double> result;
  ForNumber(tensor.dtype(), [&]<typename T>() {
    const T value = tensor.data<T>()[i];
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      result = static_cast<double>(static_cast<float>(value));
    } else if constexpr (std::is_arithmetic_v<T>) {
      result = static_cast<double>(value);
    } else {
      result = std::complex<double>(value);
    }
  });
  return result;
}

}  // namespace sextant::testing
