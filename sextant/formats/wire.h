// WireReader: the fields of a serialized protobuf message one after another, without building the
// message. Accepts what protobuf accepts: unknown fields and groups are the caller's to ignore.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "sextant/base/export.h"

namespace sextant {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kFixed32 = 5 };

// Used by one thread at a time; the bytes must outlive it and what it returned.
class WireReader {
 public:
  WireReader() = default;
  explicit WireReader(std::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // Moves to the next field. Returns false at the end, and when the bytes are not fields: then
  // ok() is false.
  bool Next() {
    if (next_ == end_) return false;
    uint64_t tag;
    if (!ReadVarint(5, &tag)) return Fail();
    field_ = static_cast<uint32_t>(tag) >> 3;
    type_ = static_cast<WireType>(tag & 7);
    if (field_ == 0) return Fail();
    switch (type_) {
      case WireType::kVarint:
        return ReadVarint(10, &number_) || Fail();
      case WireType::kFixed64:
        return ReadFixed<uint64_t>() || Fail();
      case WireType::kBytes:
        return ReadBytes() || Fail();
      case WireType::kFixed32:
        return ReadFixed<uint32_t>() || Fail();
      case WireType::kGroup:
        return SkipGroup() || Fail();
    }
    return Fail();
  }
  bool ok() const { return ok_; }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  bool Is(uint32_t field, WireType type) const { return field_ == field && type_ == type; }
  uint64_t number() const { return number_; }        // of a varint or fixed field
  std::string_view bytes() const { return bytes_; }  // of a field of bytes

  // Takes a varint off the front: for packed fields. False when there is none of at most
  // "max_bytes"; bits beyond the 64th are dropped.
  bool ReadVarint(int max_bytes, uint64_t* value) {
    if (next_ == end_) return false;
    uint64_t byte = static_cast<uint8_t>(*next_++);
    uint64_t result = byte & 0x7F;
    for (int i = 1; byte >= 0x80; ++i) {
      if (i == max_bytes || next_ == end_) return false;
      byte = static_cast<uint8_t>(*next_++);
      result |= (byte & 0x7F) << (7 * i);
    }
    *value = result;
    return true;
  }
  bool at_end() const { return next_ == end_; }

 private:
  bool Fail() { return ok_ = false; }
  template <typename T>
  bool ReadFixed() {
    T value;
    if (static_cast<size_t>(end_ - next_) < sizeof value) return false;
    std::memcpy(&value, next_, sizeof value);  // little-endian, as are all machines we run on
    next_ += sizeof value;
    number_ = value;
    return true;
  }
  bool ReadBytes() {
    uint64_t size;
    if (!ReadVarint(5, &size) || size > static_cast<uint64_t>(end_ - next_)) return false;
    bytes_ = std::string_view(next_, size);
    next_ += size;
    return true;
  }
  // To behind the end of the group whose start was read.
  SEXTANT_API bool SkipGroup();

  const char* next_ = nullptr;
  const char* end_ = nullptr;
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  bool ok_ = true;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

}  // namespace sextant
