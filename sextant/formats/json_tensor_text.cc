#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "sextant/base/base64.h"
#include "sextant/base/error.h"
#include "sextant/base/utf8.h"
#include "sextant/formats/json_tensor.h"
#include "sextant/tensor/float16.h"

namespace sextant {
namespace {

bool IsUtf8(std::string_view bytes) {
  while (!bytes.empty()) {
    if (TakeUtf8(&bytes) < 0) return false;
  }
  return true;
}

void AppendBase64(std::string_view bytes, std::string* text) {
  std::string encoded;
  EncodeBase64(bytes, /*pad=*/true, &encoded);
  for (char& c : encoded) c = c == '-' ? '+' : c == '_' ? '/' : c;
  text->append("{\"b64\": \"").append(encoded).append("\"}");
}

constexpr size_t kMostChars = 40;  // of a number or boolean

constexpr double kPowersOfTen[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

// Most numbers that people and programs send have few digits, and to_chars takes twice as long for
// them. Let d be the number of seven digits nearest to the value: where d stands for the value, d
// without its last zeros is the shortest text that does. For a shorter one would be a number of
// seven digits too, at most half a unit in the last place of a float from the value, which is less
// than half a unit in the seventh digit: it would be the nearest. Example: 0.1f is nearest to
// 0.1000000. The end of the text; null when the value has more digits, or is not in the range where
// to_chars writes no exponent.
char* WriteFewDigits(float value, char* to) {
  const double size = std::abs(static_cast<double>(value));
  if (!(size >= 1e-3 && size < 1e5)) return nullptr;
  const int after = size >= 1e2    ? size >= 1e4   ? 2
                                     : size >= 1e3 ? 3
                                                   : 4
                    : size >= 1    ? size >= 10 ? 5 : 6
                    : size >= 0.01 ? size >= 0.1 ? 7 : 8
                                   : 9;
  const auto digits = static_cast<uint32_t>(size * kPowersOfTen[after] + 0.5);
  if (static_cast<float>(digits / kPowersOfTen[after]) != static_cast<float>(size)) return nullptr;
  if (value < 0) *to++ = '-';
  const auto unit = static_cast<uint32_t>(kPowersOfTen[after]);
  to = std::to_chars(to, to + kMostChars, digits / unit).ptr;
  *to++ = '.';
  uint32_t rest = digits % unit;
  int decimals = after;
  while (decimals > 1 && rest % 10 == 0) {
    rest /= 10;
    --decimals;
  }
  char* const end = to + decimals;
  for (char* digit = end; digit != to; rest /= 10) *--digit = static_cast<char>('0' + rest % 10);
  return end;
}

template <typename T>
char* WriteReal(T value, char* to) {
  const auto write = [&](std::string_view text) { return std::ranges::copy(text, to).out; };
  if (!std::isfinite(value)) {
    return write(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
  if constexpr (std::is_same_v<T, float>) {
    if (char* end = WriteFewDigits(value, to)) return end;
  }
  char* end = std::to_chars(to, to + kMostChars, value).ptr;
  const bool whole = std::none_of(to, end, [](char c) { return c == '.' || c == 'e'; });
  if (!whole) return end;
  *end++ = '.';
  *end++ = '0';
  return end;
}

template <typename T>
char* WriteElement(T value, const JsonStyle& style, char* to) {
  if constexpr (std::is_same_v<T, bool>) {
    return std::ranges::copy(std::string_view(value ? "true" : "false"), to).out;
  } else if constexpr (std::is_floating_point_v<T>) {
    const bool quote = style.quote_non_finite && !std::isfinite(value);
    if (quote) *to++ = '"';
    to = WriteReal(value, to);
    if (quote) *to++ = '"';
    return to;
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_chars(to, to + kMostChars, value).ptr;
  } else {
    return WriteElement(static_cast<float>(value), style, to);  // half-precision types
  }
}

void AppendElement(const std::string& value, const JsonStyle& style, std::string* text) {
  if (style.base64 || !IsUtf8(value)) {
    AppendBase64(value, text);
  } else {
    AppendJsonString(value, text);
  }
}
template <typename T>
void AppendElement(const T& value, const JsonStyle& style, std::string* text) {
  char digits[kMostChars];
  text->append(digits, WriteElement(value, style, digits));
}

// The elements of a list, with what separates them, in blocks whose length is bounded beforehand.
template <typename T>
void AppendItems(const T* items, int64_t count, const JsonStyle& style, std::string* text) {
  constexpr int64_t kBlock = 64;
  char block[kBlock * (kMostChars + 2)];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    char* to = block;
    for (int64_t i = begin; i < std::min(count, begin + kBlock); ++i) {
      if (i > 0) {
        *to++ = ',';
        *to++ = ' ';
      }
      to = WriteElement(items[i], style, to);
    }
    text->append(block, to);
  }
}

// Elements from *next on as nested lists of these dimensions.
template <typename T>
void AppendLists(std::span<const int64_t> dims, const T** next, const JsonStyle& style,
                 std::string* text) {
  if (dims.empty()) return AppendElement(*(*next)++, style, text);
  text->push_back('[');
  if constexpr (!std::is_same_v<T, std::string>) {
    if (dims.size() == 1) {
      AppendItems(*next, dims[0], style, text);
      *next += dims[0];
      text->push_back(']');
      return;
    }
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    if (i > 0) text->append(", ");
    AppendLists(dims.subspan(1), next, style, text);
  }
  text->push_back(']');
}

void AppendPart(const Tensor& tensor, std::span<const int64_t> dims, int64_t first,
                const JsonStyle& style, std::string* text) {
  const auto append = [&]<typename T>(const T* data) {
    const T* next = data + first;
    AppendLists(dims, &next, style, text);
  };
  switch (tensor.dtype()) {
    case DType::kFloat:
      return append(tensor.data<float>());
    case DType::kDouble:
      return append(tensor.data<double>());
    case DType::kHalf:
      return append(tensor.data<Half>());
    case DType::kBFloat16:
      return append(tensor.data<BFloat16>());
    case DType::kInt8:
      return append(tensor.data<int8_t>());
    case DType::kInt16:
      return append(tensor.data<int16_t>());
    case DType::kInt32:
      return append(tensor.data<int32_t>());
    case DType::kInt64:
      return append(tensor.data<int64_t>());
    case DType::kUInt8:
      return append(tensor.data<uint8_t>());
    case DType::kUInt16:
      return append(tensor.data<uint16_t>());
    case DType::kUInt32:
      return append(tensor.data<uint32_t>());
    case DType::kUInt64:
      return append(tensor.data<uint64_t>());
    case DType::kBool:
      return append(tensor.data<bool>());
    case DType::kString:
      return append(tensor.data<std::string>());
    default:
      throw Unimplemented("outputs of type {} have no form in JSON", DTypeName(tensor.dtype()));
  }
}

}  // namespace

void AppendJson(const Tensor& tensor, const JsonStyle& style, std::string* text) {
  AppendPart(tensor, tensor.shape().dims(), 0, style, text);
}

void AppendJsonRow(const Tensor& tensor, int64_t row, const JsonStyle& style, std::string* text) {
  const int64_t size = tensor.num_elements() / tensor.dim(0);
  AppendPart(tensor, tensor.shape().dims().subspan(1), row * size, style, text);
}

void AppendJsonString(std::string_view bytes, std::string* text) {
  constexpr char kHex[] = "0123456789abcdef";
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  text->push_back('"');
  while (!bytes.empty()) {
    const auto plain = std::find_if_not(bytes.begin(), bytes.end(), is_plain) - bytes.begin();
    text->append(bytes.data(), static_cast<size_t>(plain));
    bytes.remove_prefix(static_cast<size_t>(plain));
    if (bytes.empty()) break;
    const auto c = static_cast<unsigned char>(bytes.front());
    if (c >= 0x80) {
      const int32_t character = TakeUtf8(&bytes);
      AppendUtf8(character < 0 ? kReplacementCharacter : static_cast<char32_t>(character), text);
      continue;
    }
    bytes.remove_prefix(1);
    if (c == '"' || c == '\\') {
      text->push_back('\\');
      text->push_back(static_cast<char>(c));
    } else if (c == '\n') {
      text->append("\\n");
    } else {
      text->append("\\u00").push_back(kHex[c >> 4]);
      text->push_back(kHex[c & 15]);
    }
  }
  text->push_back('"');
}

void AppendJsonNumber(float value, std::string* text) { AppendElement(value, {}, text); }
void AppendJsonNumber(double value, std::string* text) { AppendElement(value, {}, text); }

}  // namespace sextant
