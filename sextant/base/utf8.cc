#include "sextant/base/utf8.h"

namespace sextant {

int32_t TakeUtf8(std::string_view* text) {
  const auto first = static_cast<uint8_t>(text->front());
  text->remove_prefix(1);
  if (first < 0x80) return first;
  // The second byte tells overlong forms, surrogates and what is above U+10FFFF.
  int rest;
  uint8_t low = 0x80, high = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    rest = 1;
  } else if (first >= 0xE0 && first <= 0xEF) {
    rest = 2;
    if (first == 0xE0) low = 0xA0;
    if (first == 0xED) high = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    rest = 3;
    if (first == 0xF0) low = 0x90;
    if (first == 0xF4) high = 0x8F;
  } else {
    return -1;
  }
  int32_t character = first & (0x3F >> rest);
  for (; rest > 0; --rest, low = 0x80, high = 0xBF) {
    if (text->empty()) return -1;
    const auto byte = static_cast<uint8_t>(text->front());
    if (byte < low || byte > high) return -1;
    text->remove_prefix(1);
    character = (character << 6) | (byte & 0x3F);
  }
  return character;
}

void AppendUtf8(char32_t c, std::string* text) {
  if (c < 0x80) {
    *text += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    *text += static_cast<char>(0xC0 | (c >> 6));
  } else {
    if (c < 0x10000) {
      *text += static_cast<char>(0xE0 | (c >> 12));
    } else {
      *text += static_cast<char>(0xF0 | (c >> 18));
      *text += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
    }
    *text += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
  }
  *text += static_cast<char>(0x80 | (c & 0x3F));
}

std::u32string DecodeUtf8(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    const int32_t c = TakeUtf8(&text);
    characters += c < 0 ? kReplacementCharacter : static_cast<char32_t>(c);
  }
  return characters;
}

}  // namespace sextant
