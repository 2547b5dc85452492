// Converts fields of CSV text to values: short numbers inline, all others by ParseNumber.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/base/parse_number.h"

namespace sextant::data {

// Decimal digits, with spaces in front and a minus: what most integer fields are. False for
// anything else, also for numbers of more than nine digits.
inline bool ParseShortInteger(std::string_view field, int32_t* value) {
  const char* next = field.data();
  const char* const end = next + field.size();
  while (next != end && *next == ' ') ++next;
  const bool negative = next != end && *next == '-';
  next += negative;
  if (next == end || end - next > 9) return false;
  int32_t sum = 0;
  for (; next != end; ++next) {
    const uint32_t digit = static_cast<uint32_t>(static_cast<uint8_t>(*next)) - '0';
    if (digit > 9) return false;
    sum = sum * 10 + static_cast<int32_t>(digit);
  }
  *value = negative ? -sum : sum;
  return true;
}

// At most seven digits, with a point among them or not: a quotient of two numbers that float holds
// exactly, so that the division alone rounds. False for anything else.
inline bool ParseShortDecimal(std::string_view field, float* value) {
  constexpr float kPowers[] = {1e0f, 1e1f, 1e2f, 1e3f, 1e4f, 1e5f, 1e6f, 1e7f};
  const char* next = field.data();
  const char* const end = next + field.size();
  while (next != end && *next == ' ') ++next;
  const bool negative = next != end && *next == '-';
  next += negative;
  if (next == end || end - next > 8) return false;
  int32_t digits = 0;
  int count = 0;
  const char* point = nullptr;
  for (; next != end; ++next) {
    const uint32_t digit = static_cast<uint32_t>(static_cast<uint8_t>(*next)) - '0';
    if (digit <= 9) {
      digits = digits * 10 + static_cast<int32_t>(digit);
      ++count;
    } else if (*next == '.' && point == nullptr) {
      point = next;
    } else {
      return false;
    }
  }
  if (count == 0 || count > 7) return false;
  const float quotient =
      static_cast<float>(digits) / kPowers[point == nullptr ? 0 : end - point - 1];
  *value = negative ? -quotient : quotient;
  return true;
}

inline bool ParseField(std::string_view field, int32_t* value) {
  return ParseShortInteger(field, value) || ParseNumber(field, value);
}
inline bool ParseField(std::string_view field, int64_t* value) {
  int32_t small;
  if (!ParseShortInteger(field, &small)) return ParseNumber(field, value);
  *value = small;
  return true;
}
inline bool ParseField(std::string_view field, float* value) {
  return ParseShortDecimal(field, value) || ParseNumber(field, value);
}
inline bool ParseField(std::string_view field, double* value) {
  int32_t small;
  if (!ParseShortInteger(field, &small) || small == 0) return ParseNumber(field, value);
  *value = small;
  return true;
}
inline bool ParseField(std::string_view field, std::string* value) {
  value->assign(field);
  return true;
}

}  // namespace sextant::data
