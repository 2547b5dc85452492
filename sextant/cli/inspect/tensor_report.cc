#include "sextant/cli/inspect/tensor_report.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <span>
#include <type_traits>

#include "sextant/base/json_writer.h"
#include "sextant/formats/digest.h"
#include "sextant/tensor/float16.h"

namespace sextant::cli {
namespace {

// The elements by their bits: quantised numbers as integers, bools as bytes.
template <typename T>
std::span<const T> Raw(const Tensor& tensor) {
  return {static_cast<const T*>(tensor.raw_data()), static_cast<size_t>(tensor.num_elements())};
}

// Calls fn(values) with the elements as a span of their type; false for handles.
template <typename Fn>
bool WithValues(const Tensor& tensor, const Fn& fn) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      fn(tensor.flat<float>());
      return true;
    case DType::kDouble:
      fn(tensor.flat<double>());
      return true;
    case DType::kHalf:
      fn(tensor.flat<Half>());
      return true;
    case DType::kBFloat16:
      fn(tensor.flat<BFloat16>());
      return true;
    case DType::kInt8:
    case DType::kQInt8:
      fn(Raw<int8_t>(tensor));
      return true;
    case DType::kInt16:
    case DType::kQInt16:
      fn(Raw<int16_t>(tensor));
      return true;
    case DType::kInt32:
    case DType::kQInt32:
      fn(Raw<int32_t>(tensor));
      return true;
    case DType::kInt64:
      fn(tensor.flat<int64_t>());
      return true;
    case DType::kUInt8:
    case DType::kQUInt8:
      fn(Raw<uint8_t>(tensor));
      return true;
    case DType::kUInt16:
    case DType::kQUInt16:
      fn(Raw<uint16_t>(tensor));
      return true;
    case DType::kUInt32:
      fn(tensor.flat<uint32_t>());
      return true;
    case DType::kUInt64:
      fn(tensor.flat<uint64_t>());
      return true;
    case DType::kBool:
      fn(Raw<uint8_t>(tensor));
      return true;
    case DType::kComplex64:
      fn(Raw<std::complex<float>>(tensor));
      return true;
    case DType::kComplex128:
      fn(Raw<std::complex<double>>(tensor));
      return true;
    default:
      return false;
  }
}

template <typename T>
double AsReal(T value) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return std::abs(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(value);
  } else {
    return static_cast<float>(value);
  }
}

template <typename T>
void WriteValue(T value, JsonWriter& json) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    json.BeginArray();
    json.Double(value.real());
    json.Double(value.imag());
    json.EndArray();
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    json.Unsigned(value);
  } else if constexpr (std::is_integral_v<T>) {
    json.Int(value);
  } else {
    json.Double(AsReal(value));
  }
}

}  // namespace

std::optional<Statistics> ComputeStatistics(const Tensor& tensor) {
  Statistics result{.min = std::numeric_limits<double>::infinity(),
                    .max = -std::numeric_limits<double>::infinity()};
  double sum_of_squares = 0;  // of differences from the mean so far (Welford)
  const bool numbers = WithValues(tensor, [&](const auto& values) {
    for (const auto& element : values) {
      const double value = AsReal(element);
      if (!std::isfinite(value)) {
        ++(std::isnan(value) ? result.nan : result.infinite);
        continue;
      }
      ++result.finite;
      result.min = std::min(result.min, value);
      result.max = std::max(result.max, value);
      const double difference = value - result.mean;
      result.mean += difference / static_cast<double>(result.finite);
      sum_of_squares += difference * (value - result.mean);
    }
  });
  if (!numbers) return std::nullopt;
  if (result.finite > 0) result.std = std::sqrt(sum_of_squares / result.finite);
  return result;
}

void WriteTensorFields(const Tensor& tensor, int64_t max_values, JsonWriter& json) {
  json.Field("dtype", NumpyName(tensor.dtype()));
  json.Field("shape", tensor.shape().dims());
  const bool few = tensor.num_elements() <= max_values;
  if (tensor.dtype() == DType::kString) {
    if (!few) return;
    json.Key("values");
    json.BeginArray();
    for (const std::string& text : tensor.flat<std::string>()) json.Bytes(text);
    json.EndArray();
    return;
  }
  WithValues(tensor, [&](const auto& values) {
    json.Field("sha256", Digest({reinterpret_cast<const char*>(values.data()), values.size_bytes()},
                                "sha256"));
    if (!few) return;
    json.Key("values");
    json.BeginArray();
    for (const auto& value : values) WriteValue(value, json);
    json.EndArray();
  });
}

void WriteStatistics(const Statistics& statistics, JsonWriter& json) {
  json.Key("statistics");
  json.BeginObject();
  if (statistics.finite > 0) {
    json.Field("min", statistics.min);
    json.Field("max", statistics.max);
    json.Field("mean", statistics.mean);
    json.Field("std", statistics.std);
  }
  json.Field("nan", statistics.nan);
  json.Field("inf", statistics.infinite);
  json.EndObject();
}

}  // namespace sextant::cli
