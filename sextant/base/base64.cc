#include "sextant/base/base64.h"

#include <algorithm>
#include <cstdint>

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

}  // namespace

void EncodeBase64(std::string_view bytes, bool pad, std::string* text) {
  text->clear();
  text->reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(bytes.size() - i, 3);
    uint32_t bits = 0;
    for (size_t k = 0; k < count; ++k) {
      bits |= uint32_t{static_cast<uint8_t>(bytes[i + k])} << (16 - 8 * k);
    }
    for (size_t k = 0; k <= count; ++k) *text += kAlphabet[(bits >> (18 - 6 * k)) & 63];
    if (pad) text->append(3 - count, '=');
  }
}

void DecodeBase64(std::string_view text, std::string* bytes) {
  static const auto* const kValues = [] {
    auto* values = new int8_t[256];
    std::fill_n(values, 256, -1);
    for (size_t i = 0; i < kAlphabet.size(); ++i) {
      values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<int8_t>(i);
    }
    return values;
  }();
  bytes->clear();
  bytes->reserve(text.size() / 4 * 3 + 2);
  // Only a full last group of four is padded, with at most two signs.
  const size_t given = text.size();
  for (int k = 0; k < 2 && given % 4 == 0 && text.ends_with('='); ++k) text.remove_suffix(1);
  if (text.size() % 4 == 1) throw InvalidArgument("base64 text of {} characters", given);
  uint32_t bits = 0;
  int count = 0;  // bits that are not yet written
  for (size_t i = 0; i < text.size(); ++i) {
    const int value = kValues[static_cast<uint8_t>(text[i])];
    if (value < 0) {
      throw InvalidArgument("byte {} at position {} is not in web-safe base64",
                            static_cast<int>(static_cast<uint8_t>(text[i])), i);
    }
    bits = (bits << 6) | static_cast<uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    *bytes += static_cast<char>(bits >> count);
  }
}

}  // namespace sextant
