#include "sextant/base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr uint8_t kNone = 255;
constexpr std::array<uint8_t, 256> kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNone);
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  }
  return values;
}();

}  // namespace

void EncodeBase64(std::string_view bytes, bool pad, std::string* text) {
  const size_t groups = bytes.size() / 3, rest = bytes.size() % 3;
  const size_t last = rest == 0 ? 0 : pad ? 4 : rest + 1;
  text->resize(4 * groups + last);
  const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
  char* out = text->data();
  for (size_t i = 0; i < groups; ++i, in += 3, out += 4) {
    const uint32_t bits = uint32_t{in[0]} << 16 | uint32_t{in[1]} << 8 | in[2];
    out[0] = kAlphabet[bits >> 18];
    out[1] = kAlphabet[(bits >> 12) & 63];
    out[2] = kAlphabet[(bits >> 6) & 63];
    out[3] = kAlphabet[bits & 63];
  }
  if (rest == 0) return;
  const uint32_t bits = uint32_t{in[0]} << 16 | (rest == 2 ? uint32_t{in[1]} << 8 : 0);
  for (size_t k = 0; k <= rest; ++k) out[k] = kAlphabet[(bits >> (18 - 6 * k)) & 63];
  for (size_t k = rest + 1; k < last; ++k) out[k] = '=';
}

std::string StandardBase64(std::string_view bytes) {
  std::string text;
  EncodeBase64(bytes, true, &text);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  return text;
}

void DecodeBase64(std::string_view text, std::string* bytes) {
  // Only a full last group of four is padded, with at most two signs.
  const size_t given = text.size();
  for (int k = 0; k < 2 && given % 4 == 0 && text.ends_with('='); ++k) text.remove_suffix(1);
  if (text.size() % 4 == 1) throw InvalidArgument("base64 text of {} characters", given);
  const size_t groups = text.size() / 4, rest = text.size() % 4;
  bytes->resize(3 * groups + (rest == 0 ? 0 : rest - 1));
  const auto* in = reinterpret_cast<const uint8_t*>(text.data());
  char* out = bytes->data();
  // Values of characters that are none have bits above the lower six.
  uint8_t seen = 0;
  for (size_t i = 0; i < groups; ++i, in += 4, out += 3) {
    const uint8_t a = kValues[in[0]], b = kValues[in[1]], c = kValues[in[2]], d = kValues[in[3]];
    seen |= a | b | c | d;
    out[0] = static_cast<char>(a << 2 | b >> 4);
    out[1] = static_cast<char>(b << 4 | c >> 2);
    out[2] = static_cast<char>(c << 6 | d);
  }
  uint32_t bits = 0;
  for (size_t k = 0; k < rest; ++k) {
    seen |= kValues[in[k]];
    bits |= uint32_t{kValues[in[k]]} << (18 - 6 * k);
  }
  for (size_t k = 0; k + 1 < rest; ++k) out[k] = static_cast<char>(bits >> (16 - 8 * k));
  if (seen < 64) return;
  const auto wrong =
      std::ranges::find_if(text, [](char c) { return kValues[static_cast<uint8_t>(c)] == kNone; });
  throw InvalidArgument("byte {} at position {} is none of base64",
                        static_cast<int>(static_cast<uint8_t>(*wrong)), wrong - text.begin());
}

}  // namespace sextant
