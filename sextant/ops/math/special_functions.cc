#include "sextant/ops/math/special_functions.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

namespace sextant {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The z >= 0 with erf(z) = x and erfc(z) = complement, of which the caller knows both to full
// precision: Winitzki's approximation (error below 0.002), made exact by Halley's method, which
// triples the digits.
double InverseErfPositive(double x, double complement) {
  const double log_term = std::log(complement * (1 + x));
  const double a = 0.147, b = 2 / (std::numbers::pi * a) + log_term / 2;
  double z = std::sqrt(std::sqrt(b * b - log_term / a) - b);
  for (int i = 0; i < 3; ++i) {
    const double error = x < 0.5 ? std::erf(z) - x : complement - std::erfc(z);
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-z * z);
    if (slope == 0) break;
    const double newton = error / slope;
    z -= newton / (1 + z * newton);
  }
  return z;
}

// B(2k) / (2k)!, the coefficients of the Euler-Maclaurin formula.
constexpr double kEulerMaclaurin[] = {
    1.0 / 12,
    -1.0 / 720,
    1.0 / 30240,
    -1.0 / 1209600,
    1.0 / 47900160,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    -3617.0 / 10670622842880000.0,
    43867.0 / 5109094217170944000.0,
    -174611.0 / 802857662698291200000.0,
};

// Of whole numbers. Infinity is even, as all large ones are.
bool IsEven(double x) { return std::isinf(x) || std::fmod(x, 2) == 0; }

// x, but infinite where a T would be.
template <typename T>
double Rounded(double x) {
  return std::abs(x) > std::numeric_limits<T>::max() ? std::copysign(kInfinity, x) : x;
}

}  // namespace

template <typename T>
double InverseErf(T x) {
  if (x > 1) return (x + 1) / 2 == 1 ? kInfinity : kNan;
  if (std::isnan(x) || x < -1) return kNan;
  const double size = std::abs(x);
  if (size == 1) return std::copysign(kInfinity, x);
  if (size < 1e-9) return x / (2 * std::numbers::inv_sqrtpi);
  return std::copysign(InverseErfPositive(size, 1 - size), x);
}

template double InverseErf(float);
template double InverseErf(double);

double NormalQuantile(double p) {
  if (std::isnan(p) || p < 0 || p > 1) return kNan;
  if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
  // erfc(-z / sqrt 2) = 2p; the smaller of 2p and 2 - 2p keeps its digits.
  if (std::abs(p - 0.5) < 1e-9) return (p - 0.5) * std::sqrt(2 * std::numbers::pi);
  const double tail = 2 * (p < 0.5 ? p : 1 - p);
  const double z = InverseErfPositive(1 - tail, tail) * std::numbers::sqrt2;
  return p < 0.5 ? -z : z;
}

double DigammaFunction(double x) {
  if (x <= 0) {
    if (x == std::floor(x)) return kNan;
    return DigammaFunction(1 - x) -
           std::numbers::pi / std::tan(std::numbers::pi * (x - std::floor(x)));
  }
  double sum = 0;
  for (; x < 10; x += 1) sum -= 1 / x;
  const double w = 1 / (x * x);
  const double series =
      w * (1.0 / 12 -
           w * (1.0 / 120 -
                w * (1.0 / 252 -
                     w * (1.0 / 240 - w * (1.0 / 132 - w * (691.0 / 32760 - w * (1.0 / 12)))))));
  return sum + std::log(x) - 0.5 / x - series;
}

template <typename T>
double HurwitzZeta(T x_in, T q_in) {
  const double x = x_in;
  double q = q_in;
  if (x == 1) return kInfinity;
  if (!(x > 1) || std::isnan(q)) return kNan;
  if (q <= 0) {
    if (q == std::floor(q)) return IsEven(x) ? kInfinity : kNan;
    if (x != std::floor(x) || q < -1e6) return kNan;
  }
  if (std::isinf(q)) return 0;
  double sum = 0;
  for (int i = 0; i < 12 || q < 12; ++i, q += 1) sum += Rounded<T>(std::pow(q, -x));
  const double power = std::pow(q, -x);
  if (power == 0) return sum;
  sum += power * q / (x - 1) + power / 2;
  // Each term is the one before times (x + 2k)(x + 2k + 1) / q^2, but for the coefficient.
  double factor = x * power / q;
  for (int k = 0; k < static_cast<int>(std::size(kEulerMaclaurin)); ++k) {
    sum += kEulerMaclaurin[k] * factor;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2) / (q * q);
  }
  return sum;
}

template double HurwitzZeta(float, float);
template double HurwitzZeta(double, double);

template <typename T>
double PolygammaFunction(T n, T x) {
  if (n == 0) return DigammaFunction(x);
  if (!(n > 0) || n != std::floor(n)) return kNan;
  const T order = n + 1;
  double zeta = HurwitzZeta(order, x);
  // TensorFlow's threads take subnormal numbers for 0.
  if (std::abs(zeta) < std::numeric_limits<T>::min()) zeta = 0;
  const double factorial = Rounded<T>(std::tgamma(double{order}));
  return (IsEven(order) ? 1 : -1) * factorial * Rounded<T>(zeta);
}

template double PolygammaFunction(float, float);
template double PolygammaFunction(double, double);

}  // namespace sextant
