#include "sextant/base/utf8.h"

namespace sextant {
namespace {

bool Follows(uint8_t byte) { return (byte & 0xC0) == 0x80; }

}  // namespace

int32_t TakeLongUtf8(std::string_view* text) {
  const auto* in = reinterpret_cast<const uint8_t*>(text->data());
  const size_t size = text->size();
  const uint8_t first = in[0];
  // The second byte tells overlong forms, surrogates and what is above U+10FFFF.
  size_t length = 1;
  if (first >= 0xC2 && first <= 0xDF) {
    if (size > 1 && Follows(in[1])) {
      text->remove_prefix(2);
      return (first & 0x1F) << 6 | (in[1] & 0x3F);
    }
  } else if (first >= 0xE0 && first <= 0xEF) {
    const bool second = size > 1 && Follows(in[1]) && (first != 0xE0 || in[1] >= 0xA0) &&
                        (first != 0xED || in[1] < 0xA0);
    if (second && size > 2 && Follows(in[2])) {
      text->remove_prefix(3);
      return (first & 0x0F) << 12 | (in[1] & 0x3F) << 6 | (in[2] & 0x3F);
    }
    length += second;
  } else if (first >= 0xF0 && first <= 0xF4) {
    const bool second = size > 1 && Follows(in[1]) && (first != 0xF0 || in[1] >= 0x90) &&
                        (first != 0xF4 || in[1] < 0x90);
    const bool third = second && size > 2 && Follows(in[2]);
    if (third && size > 3 && Follows(in[3])) {
      text->remove_prefix(4);
      return (first & 0x07) << 18 | (in[1] & 0x3F) << 12 | (in[2] & 0x3F) << 6 | (in[3] & 0x3F);
    }
    length += second + third;
  }
  text->remove_prefix(length);
  return -1;
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

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return text;
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
