// The numbers that update rules compute with, alike in their operators and functions: vectors of
// floats, doubles, complex numbers, and 16-bit floats that round after every operation, as
// TensorFlow's do. Included once per instruction set, hence the unusual guard.
#if defined(SEXTANT_OPS_TRAINING_UPDATE_NUMBER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_OPS_TRAINING_UPDATE_NUMBER_INL_H_
#undef SEXTANT_OPS_TRAINING_UPDATE_NUMBER_INL_H_
#else
#define SEXTANT_OPS_TRAINING_UPDATE_NUMBER_INL_H_
#endif

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "sextant/tensor/float16.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

struct Floats {
  V v;
  Floats() = default;
  explicit Floats(V value) : v(value) {}
  explicit Floats(double value) : v(hn::Set(D(), static_cast<float>(value))) {}
};

inline Floats operator+(Floats a, Floats b) { return Floats(hn::Add(a.v, b.v)); }
inline Floats operator-(Floats a, Floats b) { return Floats(hn::Sub(a.v, b.v)); }
inline Floats operator*(Floats a, Floats b) { return Floats(hn::Mul(a.v, b.v)); }
inline Floats operator/(Floats a, Floats b) { return Floats(hn::Div(a.v, b.v)); }
inline Floats operator-(Floats a) { return Floats(hn::Neg(a.v)); }
inline Floats Sqrt(Floats x) { return Floats(hn::Sqrt(x.v)); }
inline Floats Abs(Floats x) { return Floats(hn::Abs(x.v)); }
inline Floats Max(Floats a, Floats b) { return Floats(hn::IfThenElse(hn::Lt(a.v, b.v), b.v, a.v)); }
inline Floats Min(Floats a, Floats b) { return Floats(hn::IfThenElse(hn::Lt(b.v, a.v), b.v, a.v)); }
// Zero and NaN are their own signs.
inline Floats Sign(Floats x) {
  const V zero = hn::Zero(D()), one = hn::Set(D(), 1.0f);
  return Floats(
      hn::IfThenElse(hn::Gt(x.v, zero), one, hn::IfThenElse(hn::Lt(x.v, zero), hn::Neg(one), x.v)));
}

// Lane by lane: few steps need these.
template <float (*function)(float, float)>
Floats EachLane(Floats x, Floats y) {
  HWY_ALIGN float a[hn::MaxLanes(D())], b[hn::MaxLanes(D())];
  hn::Store(x.v, D(), a);
  hn::Store(y.v, D(), b);
  for (size_t i = 0; i < hn::Lanes(D()); ++i) a[i] = function(a[i], b[i]);
  return Floats(hn::Load(D(), a));
}
inline float PowOne(float x, float y) { return __builtin_powf(x, y); }
inline float ExpOne(float x, float) { return __builtin_expf(x); }
inline Floats Pow(Floats x, Floats y) { return EachLane<PowOne>(x, y); }
inline Floats Exp(Floats x) { return EachLane<ExpOne>(x, x); }

// How elements of type T are read, computed with and written, "lanes" at a time.
template <typename T>
struct Element;

template <>
struct Element<float> {
  using Type = float;
  using Number = Floats;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  static Floats Load(const float* from) { return Floats(hn::LoadU(D(), from)); }
  static void Store(Floats value, float* to) { hn::StoreU(value.v, D(), to); }
  // Fewer than kLanes: these go through a whole vector too, and get the same bits as the others.
  static Floats LoadTail(const float* from, int64_t count) {
    HWY_ALIGN float buffer[kLanes] = {};
    for (int64_t i = 0; i < count; ++i) buffer[i] = from[i];
    return Floats(hn::Load(D(), buffer));
  }
  static void StoreTail(Floats value, float* to, int64_t count) {
    HWY_ALIGN float buffer[kLanes];
    hn::Store(value.v, D(), buffer);
    for (int64_t i = 0; i < count; ++i) to[i] = buffer[i];
  }
  static Floats Broadcast(float value) { return Floats(value); }
  static double Value(float value) { return value; }
};

#if HWY_ONCE
template <typename T>
struct Rounded {
  float value = 0;
  Rounded() = default;
  explicit Rounded(double v) : value(static_cast<float>(T(static_cast<float>(v)))) {}

  friend Rounded operator+(Rounded a, Rounded b) { return Rounded(a.value + b.value); }
  friend Rounded operator-(Rounded a, Rounded b) { return Rounded(a.value - b.value); }
  friend Rounded operator*(Rounded a, Rounded b) { return Rounded(a.value * b.value); }
  friend Rounded operator/(Rounded a, Rounded b) { return Rounded(a.value / b.value); }
  friend Rounded operator-(Rounded a) { return Rounded(-a.value); }
  friend bool operator<(Rounded a, Rounded b) { return a.value < b.value; }
};

inline double Sqrt(double x) { return std::sqrt(x); }
inline double Abs(double x) { return std::abs(x); }
inline double Exp(double x) { return std::exp(x); }
inline double Pow(double x, double y) { return std::pow(x, y); }
template <typename T>
std::complex<T> Sqrt(std::complex<T> x) {
  return std::sqrt(x);
}
template <typename T>
Rounded<T> Sqrt(Rounded<T> x) {
  return Rounded<T>(std::sqrt(x.value));
}
template <typename T>
Rounded<T> Abs(Rounded<T> x) {
  return Rounded<T>(std::abs(x.value));
}
template <typename T>
Rounded<T> Exp(Rounded<T> x) {
  return Rounded<T>(std::exp(x.value));
}
template <typename T>
Rounded<T> Pow(Rounded<T> x, Rounded<T> y) {
  return Rounded<T>(std::pow(x.value, y.value));
}
template <typename N>
N Max(N a, N b) {
  return a < b ? b : a;
}
template <typename N>
N Min(N a, N b) {
  return b < a ? b : a;
}
template <typename N>
N Sign(N x) {
  return N(0) < x ? N(1) : x < N(0) ? N(-1) : x;
}

template <typename T>
struct NumberOf {
  using Type = T;
};
template <>
struct NumberOf<Half> {
  using Type = Rounded<Half>;
};
template <>
struct NumberOf<BFloat16> {
  using Type = Rounded<BFloat16>;
};

template <typename T>
struct Element {
  using Type = T;
  using Number = typename NumberOf<T>::Type;
  static constexpr int64_t kLanes = 1;
  static Number Load(const T* from) { return Broadcast(*from); }
  static void Store(Number value, T* to) {
    if constexpr (std::is_same_v<Number, T>) {
      *to = value;
    } else {
      *to = T(value.value);
    }
  }
  static Number LoadTail(const T* from, int64_t) { return Load(from); }
  static void StoreTail(Number value, T* to, int64_t) { Store(value, to); }
  static Number Broadcast(T value) {
    if constexpr (std::is_same_v<Number, T>) {
      return value;
    } else {
      return Number(static_cast<float>(value));
    }
  }
  static double Value(T value) {
    if constexpr (std::is_same_v<T, double>) {
      return value;
    } else {
      return static_cast<float>(value);
    }
  }
};
#endif  // HWY_ONCE

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#endif  // SEXTANT_OPS_TRAINING_UPDATE_NUMBER_INL_H_
