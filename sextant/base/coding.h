// Little-endian and varint integers in byte strings.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sextant {

void PutFixed32(std::string* dst, uint32_t value);
void PutFixed64(std::string* dst, uint64_t value);
// Seven bits a byte, low bits first; all but the last byte have bit 7 set.
void PutVarint32(std::string* dst, uint32_t value);
void PutVarint64(std::string* dst, uint64_t value);

// REQUIRES: 4 (8) bytes at src.
inline uint32_t DecodeFixed32(const char* src) {
  uint32_t value;
  std::memcpy(&value, src, sizeof value);
  return std::endian::native == std::endian::little ? value : __builtin_bswap32(value);
}
inline uint64_t DecodeFixed64(const char* src) {
  uint64_t value;
  std::memcpy(&value, src, sizeof value);
  return std::endian::native == std::endian::little ? value : __builtin_bswap64(value);
}

// These take a number off the front of *src. They return false and leave both arguments as they
// were when *src is too short or the varint does not fit.
[[nodiscard]] bool GetFixed32(std::string_view* src, uint32_t* value);
[[nodiscard]] bool GetFixed64(std::string_view* src, uint64_t* value);
[[nodiscard]] bool GetVarint32(std::string_view* src, uint32_t* value);
[[nodiscard]] bool GetVarint64(std::string_view* src, uint64_t* value);
// A varint64 length and that many bytes, which *value then points at.
[[nodiscard]] bool GetLengthPrefixed(std::string_view* src, std::string_view* value);

}  // namespace sextant
