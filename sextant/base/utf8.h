// UTF-8: characters in byte strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sextant {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// Takes a character off the front of *text, which is not empty, and returns it, or -1 for bytes
// that are none: as many as could have begun one, at least one.
int32_t TakeUtf8(std::string_view* text);

// REQUIRES: a code point below 0x110000 that is no surrogate.
void AppendUtf8(char32_t character, std::string* text);

// The characters of the text, with U+FFFD in place of bytes that are none.
std::u32string DecodeUtf8(std::string_view text);

}  // namespace sextant
