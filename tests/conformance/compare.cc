#include "tests/conformance/compare.h"

#include <cmath>
#include <complex>

namespace sextant::conformance {
namespace {

// "[1,0,2]" for the flat position.
std::string Position(const Shape& shape, int64_t flat) {
  std::vector<int64_t> index(shape.rank());
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = flat % shape.dim(d);
    flat /= shape.dim(d);
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

template <typename T>
double AsReal(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value);
  } else {
    return static_cast<double>(value);
  }
}

template <typename T>
std::string CompareReal(const Tensor& actual, const Tensor& expected, const Tolerance& t) {
  const T* a = actual.data<T>();
  const T* e = expected.data<T>();
  double worst = 0;
  int64_t where = -1;
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const double x = AsReal(a[i]), y = AsReal(e[i]);
    if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
    double error = std::abs(x - y);
    if (std::isnan(error) || std::isinf(y) || std::isinf(x)) error = INFINITY;
    if (error > t.atol + t.rtol * std::abs(y) && (where < 0 || error > worst)) {
      worst = error;
      where = i;
    }
  }
  if (where < 0) return "";
  return fmt::format("largest error {:.3g} at {}: got {:.9g}, expected {:.9g}", worst,
                     Position(expected.shape(), where), AsReal(a[where]), AsReal(e[where]));
}

// 64-bit integers do not fit in a double.
template <typename T>
std::string CompareExact(const Tensor& actual, const Tensor& expected) {
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    if (!(actual.data<T>()[i] == expected.data<T>()[i])) {
      return fmt::format("differs at {}", Position(expected.shape(), i));
    }
  }
  return "";
}

template <typename T>
std::string CompareComplex(const Tensor& actual, const Tensor& expected, const Tolerance& t) {
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    const auto a = actual.data<T>()[i], e = expected.data<T>()[i];
    if (std::abs(a - e) > t.atol + t.rtol * std::abs(e)) {
      return fmt::format("differs at {}", Position(expected.shape(), i));
    }
  }
  return "";
}

}  // namespace

std::string Difference(const Tensor& actual, const Tensor& expected, const Tolerance& t) {
  if (actual.dtype() != expected.dtype() || !(actual.shape() == expected.shape())) {
    return fmt::format("got {}, expected {}", actual.Describe(), expected.Describe());
  }
  switch (expected.dtype()) {
    case DType::kFloat:
      return CompareReal<float>(actual, expected, t);
    case DType::kDouble:
      return CompareReal<double>(actual, expected, t);
    case DType::kHalf:
      return CompareReal<Half>(actual, expected, t);
    case DType::kBFloat16:
      return CompareReal<BFloat16>(actual, expected, t);
    // An integer may be off by atol, never by a share of its size.
    case DType::kInt8:
      return CompareReal<int8_t>(actual, expected, {0, t.atol});
    case DType::kInt16:
      return CompareReal<int16_t>(actual, expected, {0, t.atol});
    case DType::kInt32:
      return CompareReal<int32_t>(actual, expected, {0, t.atol});
    case DType::kUInt8:
      return CompareReal<uint8_t>(actual, expected, {0, t.atol});
    case DType::kUInt16:
      return CompareReal<uint16_t>(actual, expected, {0, t.atol});
    case DType::kUInt32:
      return CompareReal<uint32_t>(actual, expected, {0, t.atol});
    case DType::kInt64:
      return CompareExact<int64_t>(actual, expected);
    case DType::kUInt64:
      return CompareExact<uint64_t>(actual, expected);
    case DType::kBool:
      return CompareReal<bool>(actual, expected, {});
    case DType::kString:
      return CompareExact<std::string>(actual, expected);
    case DType::kComplex64:
      return CompareComplex<std::complex<float>>(actual, expected, t);
    case DType::kComplex128:
      return CompareComplex<std::complex<double>>(actual, expected, t);
    default:
      return "cannot compare " + DTypeName(expected.dtype());
  }
}

}  // namespace sextant::conformance
