// Fields of a protobuf message appended to bytes, without building the message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/formats/wire.h"

namespace sextant {

inline void AppendWireVarint(uint64_t value, std::string* bytes) {
  while (value >= 0x80) {
    bytes->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  bytes->push_back(static_cast<char>(value));
}
inline void AppendWireTag(uint32_t field, WireType type, std::string* bytes) {
  AppendWireVarint(field << 3 | static_cast<uint32_t>(type), bytes);
}
inline void AppendWireNumber(uint32_t field, uint64_t value, std::string* bytes) {
  AppendWireTag(field, WireType::kVarint, bytes);
  AppendWireVarint(value, bytes);
}
inline void AppendWireBytes(uint32_t field, std::string_view value, std::string* bytes) {
  AppendWireTag(field, WireType::kBytes, bytes);
  AppendWireVarint(value.size(), bytes);
  bytes->append(value);
}

}  // namespace sextant
