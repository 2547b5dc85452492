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

template <typename T>
void AppendReal(T value, std::string* text) {
  if (!std::isfinite(value)) {
    text->append(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    return;
  }
  char digits[40];
  char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  text->append(digits, end);
  for (const char* c = digits; c != end; ++c) {
    if (*c == '.' || *c == 'e') return;
  }
  text->append(".0");
}

template <typename T>
void AppendElement(const T& value, const JsonStyle& style, std::string* text) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (style.base64 || !IsUtf8(value)) {
      AppendBase64(value, text);
    } else {
      AppendJsonString(value, text);
    }
  } else if constexpr (std::is_same_v<T, bool>) {
    text->append(value ? "true" : "false");
  } else if constexpr (std::is_floating_point_v<T>) {
    const bool quote = style.quote_non_finite && !std::isfinite(value);
    if (quote) text->push_back('"');
    AppendReal(value, text);
    if (quote) text->push_back('"');
  } else if constexpr (std::is_integral_v<T>) {
    char digits[24];
    text->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  } else {
    AppendElement(static_cast<float>(value), style, text);  // half-precision types
  }
}

// Elements from *next on as nested lists of these dimensions.
template <typename T>
void AppendLists(std::span<const int64_t> dims, const T** next, const JsonStyle& style,
                 std::string* text) {
  if (dims.empty()) return AppendElement(*(*next)++, style, text);
  text->push_back('[');
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
  text->push_back('"');
  while (!bytes.empty()) {
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
    } else if (c < 0x20 || c == 0x7F) {
      text->append("\\u00").push_back(kHex[c >> 4]);
      text->push_back(kHex[c & 15]);
    } else {
      text->push_back(static_cast<char>(c));
    }
  }
  text->push_back('"');
}

void AppendJsonNumber(float value, std::string* text) { AppendReal(value, text); }
void AppendJsonNumber(double value, std::string* text) { AppendReal(value, text); }

}  // namespace sextant
