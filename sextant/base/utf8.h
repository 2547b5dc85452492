// UTF-8: characters in byte strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/base/export.h"

namespace sextant {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// Takes a character off the front of *text, which is not empty, and returns it, or -1 for bytes
// that are none: as many as could have begun one, at least one.
inline int32_t TakeUtf8(std::string_view* text);

// REQUIRES: a code point below 0x110000 that is no surrogate.
void AppendUtf8(char32_t character, std::string* text);

// The text without a byte order mark in front of it, which some programs write into files.
SEXTANT_API std::string_view WithoutByteOrderMark(std::string_view text);

// The characters of the text, with U+FFFD in place of bytes that are none.
std::u32string DecodeUtf8(std::string_view text);

// TakeUtf8 where the first byte is not ASCII.
int32_t TakeLongUtf8(std::string_view* text);

inline int32_t TakeUtf8(std::string_view* text) {
  const auto first = static_cast<uint8_t>(text->front());
  if (first >= 0x80) return TakeLongUtf8(text);
  text->remove_prefix(1);
  return first;
}

}  // namespace sextant
