#include "sextant/base/coding.h"

#include <limits>

namespace sextant {
namespace {

template <typename T>
void PutFixed(std::string* dst, T value) {
  char bytes[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<char>(value >> (8 * i));
  dst->append(bytes, sizeof(T));
}

template <typename T>
T DecodeFixed(const char* src) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(src[i])) << (8 * i);
  }
  return value;
}

template <typename T>
bool GetFixed(std::string_view* src, T* value) {
  if (src->size() < sizeof(T)) return false;
  *value = DecodeFixed<T>(src->data());
  src->remove_prefix(sizeof(T));
  return true;
}

}  // namespace

void PutFixed32(std::string* dst, uint32_t value) { PutFixed(dst, value); }
void PutFixed64(std::string* dst, uint64_t value) { PutFixed(dst, value); }
void PutVarint32(std::string* dst, uint32_t value) { PutVarint64(dst, value); }

void PutVarint64(std::string* dst, uint64_t value) {
  for (; value >= 0x80; value >>= 7) dst->push_back(static_cast<char>(value | 0x80));
  dst->push_back(static_cast<char>(value));
}

uint32_t DecodeFixed32(const char* src) { return DecodeFixed<uint32_t>(src); }
uint64_t DecodeFixed64(const char* src) { return DecodeFixed<uint64_t>(src); }
bool GetFixed32(std::string_view* src, uint32_t* value) { return GetFixed(src, value); }
bool GetFixed64(std::string_view* src, uint64_t* value) { return GetFixed(src, value); }

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
