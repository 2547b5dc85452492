#include "sextant/formats/wire.h"

namespace sextant {

bool WireReader::SkipGroup() {
  constexpr int kMaxDepth = 100;  // protobuf's
  constexpr uint32_t kEndGroup = 4;
  uint32_t open[kMaxDepth];
  const uint32_t field = field_;
  int depth = 0;
  open[depth++] = field;
  while (depth > 0) {
    uint64_t tag, ignored;
    if (!ReadVarint(5, &tag)) return false;
    const uint32_t number = static_cast<uint32_t>(tag) >> 3;
    if (number == 0) return false;
    if ((tag & 7) == kEndGroup) {
      if (open[--depth] != number) return false;
      continue;
    }
    switch (static_cast<WireType>(tag & 7)) {
      case WireType::kVarint:
        if (!ReadVarint(10, &ignored)) return false;
        break;
      case WireType::kFixed64:
        if (!ReadFixed<uint64_t>()) return false;
        break;
      case WireType::kBytes:
        if (!ReadBytes()) return false;
        break;
      case WireType::kFixed32:
        if (!ReadFixed<uint32_t>()) return false;
        break;
      case WireType::kGroup:
        if (depth == kMaxDepth) return false;
        open[depth++] = number;
        break;
      default:
        return false;
    }
  }
  field_ = field;
  return true;
}

}  // namespace sextant
