#include "sextant/net/frame_parts.h"

#include <algorithm>
#include <cstring>

#include "sextant/base/error.h"

namespace sextant::net {

std::vector<Tensor> CutFrame(const EncodedFrame& frame, size_t part_bytes) {
  std::vector<Tensor> parts;
  size_t used = 0;  // of the last part
  size_t left = frame.bytes;
  for (const FramePiece& piece : frame.pieces) {
    for (std::string_view bytes = piece.bytes; !bytes.empty();) {
      if (parts.empty() || used == parts.back().bytes()) {
        parts.emplace_back(DType::kUInt8, Shape{static_cast<int64_t>(std::min(left, part_bytes))});
        used = 0;
      }
      const size_t count = std::min(bytes.size(), parts.back().bytes() - used);
      std::memcpy(parts.back().data<uint8_t>() + used, bytes.data(), count);
      used += count;
      left -= count;
      bytes.remove_prefix(count);
    }
  }
  return parts;
}

DecodedFrame JoinFrame(std::span<const Tensor> parts, Allocator& allocator) {
  std::vector<std::string_view> pieces;
  for (const Tensor& part : parts) {
    if (part.dtype() != DType::kUInt8) throw DataLoss("a part of a frame that is no bytes");
    pieces.emplace_back(static_cast<const char*>(part.raw_data()), part.bytes());
  }
  return DecodeFrame(pieces, allocator);
}

}  // namespace sextant::net
