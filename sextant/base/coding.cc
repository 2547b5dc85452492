#include "sextant/base/coding.h"

#include <limits>

#include "sextant/base/export.h"

namespace sextant {
namespace {

template <typename T>
void PutFixed(std::string* dst, T value) {
  char bytes[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  dst->append(bytes, sizeof(T));
}

}  // namespace

SEXTANT_API void PutFixed32(std::string* dst, uint32_t value) { PutFixed(dst, value); }
SEXTANT_API void PutFixed64(std::string* dst, uint64_t value) { PutFixed(dst, value); }
void PutVarint32(std::string* dst, uint32_t value) { PutVarint64(dst, value); }

void PutVarint64(std::string* dst, uint64_t value) {
  for (; value >= 0x80; value >>= 7) dst->push_back(static_cast<char>(value | 0x80));
  dst->push_back(static_cast<char>(value));
}

SEXTANT_API bool GetFixed32(std::string_view* src, uint32_t* value) {
  if (src->size() < sizeof *value) return false;
  *value = DecodeFixed32(src->data());
  src->remove_prefix(sizeof *value);
  return true;
}

SEXTANT_API bool GetFixed64(std::string_view* src, uint64_t* value) {
  if (src->size() < sizeof *value) return false;
  *value = DecodeFixed64(src->data());
  src->remove_prefix(sizeof *value);
  return true;
}

bool GetVarint32(std::string_view* src, uint32_t* value) {
  std::string_view rest = *src;
  uint64_t wide;
  if (!GetVarint64(&rest, &wide) || wide > std::numeric_limits<uint32_t>::max()) return false;
  *src = rest;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool GetVarint64(std::string_view* src, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < src->size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>((*src)[i]);
    if (i == 9 && byte > 1) return false;
    result |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      src->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

bool GetLengthPrefixed(std::string_view* src, std::string_view* value) {
  std::string_view rest = *src;
  uint64_t length;
  if (!GetVarint64(&rest, &length) || length > rest.size()) return false;
  *value = rest.substr(0, length);
  *src = rest.substr(length);
  return true;
}

}  // namespace sextant
