#include "sextant/tensor/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "sextant/tensor/float16.h"

namespace sextant {
namespace {

constexpr int kPrecision = 8;  // digits after the point in arrays

// d.ddd x 10^exponent, without trailing zeros.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

// A number as it is written: the sign stands in "whole"; "exponent" ("+10") is empty in positional
// notation.
struct Text {
  std::string whole;
  std::string fraction;
  std::string exponent;
};

template <typename T>
double Exact(T value) {
  if constexpr (sizeof(T) == 2)
    return static_cast<float>(value);
  else
    return value;
}

// a / b in the arithmetic of T, which decides on the notation of borderline arrays.
template <typename T>
double Quotient(double a, double b) {
  return Exact(
      static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(a / b)));
}

Decimal ParseScientific(std::string_view text) {
  Decimal d;
  d.negative = text.starts_with('-');
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c >= '0' && c <= '9') d.digits += c;
  }
  d.digits.resize(std::max<size_t>(d.digits.find_last_not_of('0') + 1, 1));
  d.exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  return d;
}

// The fewest digits that tell the value from all others of its type.
template <typename T>
Decimal Shortest(T value) {
  if constexpr (sizeof(T) == 2) {
    for (int places = 0;; ++places) {
      const std::string text = fmt::format("{:.{}e}", static_cast<float>(value), places);
      if (T(std::strtof(text.c_str(), nullptr)).bits == value.bits) return ParseScientific(text);
    }
  } else {
    char text[64];
    const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
    return ParseScientific({text, end.ptr});
  }
}

std::string Sign(bool negative, bool plus) { return negative ? "-" : plus ? "+" : ""; }

Text Positional(const Decimal& d, bool plus) {
  Text text{.whole = Sign(d.negative, plus)};
  const int before_point = d.exponent + 1;
  const int digits = static_cast<int>(d.digits.size());
  if (before_point <= 0) {
    text.whole += '0';
    text.fraction = std::string(-before_point, '0') + d.digits;
  } else if (before_point >= digits) {
    text.whole += d.digits + std::string(before_point - digits, '0');
  } else {
    text.whole += d.digits.substr(0, before_point);
    text.fraction = d.digits.substr(before_point);
  }
  return text;
}

Text Scientific(const Decimal& d, bool plus) {
  return {.whole = Sign(d.negative, plus) + d.digits[0],
          .fraction = d.digits.substr(1),
          .exponent = fmt::format("{:+03d}", d.exponent)};
}

Text ScientificTo(double value, size_t places, bool plus) {
  return Scientific(ParseScientific(fmt::format("{:.{}e}", value, places)), plus);
}

// A finite value with at most kPrecision digits after the point.
template <typename T>
Text Rounded(T value, bool scientific, bool plus) {
  const Decimal d = Shortest(value);
  const int places = static_cast<int>(d.digits.size()) - 1;
  if (scientific) {
    return places > kPrecision ? ScientificTo(Exact(value), kPrecision, plus) : Scientific(d, plus);
  }
  const int fraction = places - d.exponent;
  if (fraction >= 0 && fraction <= kPrecision) return Positional(d, plus);
  // Too long a fraction is rounded; a number without one shows its exact value.
  const std::string digits = fmt::format("{:.{}f}", std::abs(Exact(value)), kPrecision);
  const size_t point = digits.find('.');
  return {.whole = Sign(d.negative, plus) + digits.substr(0, point),
          .fraction = digits.substr(point + 1, digits.find_last_not_of('0') - point),
          .exponent = ""};
}

template <typename T>
bool NeedsExponents(std::span<const T> values) {
  double least = INFINITY;
  double most = 0;
  for (const T& value : values) {
    const double size = std::abs(Exact(value));
    if (!std::isfinite(size) || size == 0) continue;
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return most > 0 && (most >= 1e8 || least < 1e-4 || Quotient<T>(most, least) > 1000.0);
}

std::string NonFiniteText(double value, bool plus) {
  return fmt::format("{}{}", Sign(value < 0, plus), std::isnan(value) ? "nan" : "inf");
}

// The widths that all numbers of an array share.
struct Widths {
  size_t whole = 0;
  size_t fraction = 0;
  size_t exponent = 0;

  void Include(const Text& text) {
    whole = std::max(whole, text.whole.size());
    fraction = std::max(fraction, text.fraction.size());
    exponent = std::max(exponent, text.exponent.size());
  }
  std::string Pad(const Text& text) const {
    const std::string front = fmt::format("{:>{}}.", text.whole, whole);
    if (exponent == 0) return fmt::format("{}{:<{}}", front, text.fraction, fraction);
    return fmt::format("{}{:0<{}}e{}{:0>{}}", front, text.fraction, fraction, text.exponent[0],
                       text.exponent.substr(1), exponent - 1);
  }
};

}  // namespace

template <typename T>
std::string RealText(T value) {
  const double size = std::abs(Exact(value));
  if (!std::isfinite(size)) return NonFiniteText(Exact(value), false);
  const Decimal d = Shortest(value);
  if (size == 0 || (size >= 1e-4 && size < 1e16)) {
    const Text text = Positional(d, false);
    return fmt::format("{}.{}", text.whole, text.fraction.empty() ? "0" : text.fraction);
  }
  const Text text = Scientific(d, false);
  return fmt::format("{}{}{}e{}", text.whole, text.fraction.empty() ? "" : ".", text.fraction,
                     text.exponent);
}

template <typename T>
std::vector<std::string> AlignedReals(std::span<const T> values, bool plus) {
  const bool scientific = NeedsExponents(values);
  std::vector<Text> texts;
  Widths widths;
  for (const T& value : values) {
    if (!std::isfinite(Exact(value))) continue;
    widths.Include(texts.emplace_back(Rounded(value, scientific, plus)));
  }
  std::vector<std::string> words;
  auto next = texts.begin();
  for (const T& value : values) {
    if (!std::isfinite(Exact(value))) {
      words.push_back(NonFiniteText(Exact(value), plus));
      continue;
    }
    // Shorter fractions are filled up with the digits of the exact value, not with zeros.
    if (scientific) *next = ScientificTo(Exact(value), widths.fraction, plus);
    words.push_back(widths.Pad(*next++));
  }
  AlignRight(&words);
  return words;
}

void AlignRight(std::vector<std::string>* words) {
  size_t width = 0;
  for (const std::string& word : *words) width = std::max(width, word.size());
  for (std::string& word : *words) word.insert(0, width - word.size(), ' ');
}

template std::string RealText(float);
template std::string RealText(double);
template std::string RealText(Half);
template std::string RealText(BFloat16);
template std::vector<std::string> AlignedReals(std::span<const float>, bool);
template std::vector<std::string> AlignedReals(std::span<const double>, bool);
template std::vector<std::string> AlignedReals(std::span<const Half>, bool);
template std::vector<std::string> AlignedReals(std::span<const BFloat16>, bool);

}  // namespace sextant
