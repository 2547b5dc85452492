#include "sextant/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "sextant/base/utf8.h"

namespace sextant {
namespace {

constexpr size_t kMostNameBytes = 1000;

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f; }
bool IsLineEnd(int32_t character) { return character == '\n' || character == '\t'; }

// Controls of Unicode: C0, DEL, C1, line separators, marks of direction.
bool IsControl(int32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void AppendEscaped(int32_t character, std::string_view bytes, std::string* out) {
  const auto to = std::back_inserter(*out);
  if (character < 0) {
    for (const char byte : bytes) fmt::format_to(to, "\\x{:02x}", static_cast<uint8_t>(byte));
  } else if (character == '\n') {
    *out += "\\n";
  } else if (character == '\t') {
    *out += "\\t";
  } else if (character == '\r') {
    *out += "\\r";
  } else if (character < 0x20) {
    fmt::format_to(to, "\\x{:02x}", character);
  } else {  // as JSON writes it
    fmt::format_to(to, "\\u{:04x}", character);
  }
}

// The largest size up to `size` at which no character is cut.
size_t CharacterEnd(std::string_view text, size_t size) {
  for (int i = 0; i < 3 && size > 0 && (text[size] & 0xc0) == 0x80; ++i) --size;
  return size;
}

}  // namespace

std::string Printable(std::string_view text, LineEnds line_ends) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto plain = std::find_if_not(text.begin(), text.end(), IsPlain);
    out.append(text.begin(), plain);
    text.remove_prefix(static_cast<size_t>(plain - text.begin()));
    if (text.empty()) break;
    const std::string_view before = text;
    const int32_t character = TakeUtf8(&text);
    const std::string_view bytes = before.substr(0, before.size() - text.size());
    const bool kept = line_ends == LineEnds::kKeep && IsLineEnd(character);
    if (character >= 0 && (kept || !IsControl(character))) {
      out += bytes;
    } else {
      AppendEscaped(character, bytes, &out);
    }
  }
  return out;
}

bool IsPrintable(std::string_view text) {
  while (!text.empty()) {
    if (IsPlain(text.front())) {
      text.remove_prefix(1);
      continue;
    }
    const int32_t character = TakeUtf8(&text);
    if (character < 0 || (IsControl(character) && !IsLineEnd(character))) return false;
  }
  return true;
}

std::string WithoutMiddle(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  const size_t head = CharacterEnd(text, most * 2 / 3);
  const size_t tail = CharacterEnd(text, text.size() - most / 3);
  return fmt::format("{} ... ({} bytes left out) ... {}", text.substr(0, head), tail - head,
                     text.substr(tail));
}

std::string Shortened(std::string_view text, size_t limit) {
  const bool whole = text.size() <= limit;
  if (!whole) {
    while (limit > 0 && (text[limit] & 0xc0) == 0x80) --limit;  // no half character
    text = text.substr(0, limit);
  }
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return Printable(line) + (whole ? "" : "...");
}

std::string ShownName(std::string_view text) {
  return WithoutMiddle(Printable(text), kMostNameBytes);
}

}  // namespace sextant
