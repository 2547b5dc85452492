#include "sextant/base/parse_number.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <system_error>
#include <type_traits>

#include "sextant/base/export.h"

namespace sextant {
namespace {

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view Stripped(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

bool IsWord(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

template <typename T>
bool ParseInteger(std::string_view text, T* value) {
  text = Stripped(text);
  T number;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *value = number;
  return true;
}

// Whether a decimal number other than zero is at least 1: of one that is out of range, whether it
// is too large.
bool AtLeastOne(std::string_view text) {
  const size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view digits = text.substr(0, mark);
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const auto first = static_cast<int64_t>(digits.find_first_of("123456789"));
  std::string_view power = text.substr(std::min(mark + 1, text.size()));
  if (power.starts_with('+')) power.remove_prefix(1);
  int64_t exponent = 0;
  const auto result = std::from_chars(power.data(), power.data() + power.size(), exponent);
  if (result.ec == std::errc::result_out_of_range) return !power.starts_with('-');
  exponent = std::clamp<int64_t>(exponent, -(int64_t{1} << 40), int64_t{1} << 40);
  return point - first + exponent > 0;
}

template <typename T>
bool ParseUnsignedReal(std::string_view text, T* value) {
  if (text.empty()) return false;
  const char *const begin = text.data(), *const end = begin + text.size();
  if (text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
    const auto hex_digit = [](char c) {
      return IsDigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
    };
    if (!std::all_of(begin + 2, end, hex_digit)) return false;
    const auto [last, error] = std::from_chars(begin + 2, end, *value, std::chars_format::hex);
    if (error == std::errc::result_out_of_range) *value = std::numeric_limits<T>::infinity();
    return last == end;
  }
  // What remains of the words that from_chars would take begins with neither digit nor point.
  if (!IsDigit(text[0]) && text[0] != '.') {
    if (IsWord(text, "inf")) return *value = std::numeric_limits<T>::infinity(), true;
    if (IsWord(text, "nan")) return *value = std::numeric_limits<T>::quiet_NaN(), true;
    return false;
  }
  const auto [last, error] = std::from_chars(begin, end, *value);
  if (last != end) return false;
  if (error == std::errc()) return true;
  if (error != std::errc::result_out_of_range) return false;
  *value = AtLeastOne(text) ? std::numeric_limits<T>::infinity() : T(0);
  return true;
}

template <typename T>
bool ParseReal(std::string_view text, T* value) {
  if (text.empty()) return false;
  text = Stripped(text);
  T number = 0;
  if (!text.empty()) {
    const bool negative = text[0] == '-';
    if (negative || text[0] == '+') text.remove_prefix(1);
    if (!ParseUnsignedReal(text, &number)) return false;
    if (std::is_same_v<T, float> && number < std::numeric_limits<T>::min()) number = 0;
    if (negative) number = -number;
  }
  *value = number;
  return true;
}

}  // namespace

SEXTANT_API bool ParseNumber(std::string_view text, int32_t* value) {
  return ParseInteger(text, value);
}
bool ParseNumber(std::string_view text, int64_t* value) { return ParseInteger(text, value); }
bool ParseNumber(std::string_view text, float* value) { return ParseReal(text, value); }
bool ParseNumber(std::string_view text, double* value) { return ParseReal(text, value); }

}  // namespace sextant
