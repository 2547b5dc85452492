#include "sextant/net/frame_parts.h"

#include <algorithm>
#include <cstring>

#include "sextant/base/error.h"

namespace sextant::net {

Tensor CutPart(const EncodedFrame& frame, size_t part_bytes, size_t index) {
  size_t skipped = index * part_bytes;  // bytes in front of the part
  size_t left = std::min(part_bytes, frame.bytes - skipped);
  Tensor part(DType::kUInt8, Shape{static_cast<int64_t>(left)});
  uint8_t* to = part.data<uint8_t>();
  for (const FramePiece& piece : frame.pieces) {
    if (left == 0) break;
    if (skipped >= piece.bytes.size()) {
      skipped -= piece.bytes.size();
      continue;
    }
    const std::string_view bytes = piece.bytes.substr(skipped, left);
    std::memcpy(to, bytes.data(), bytes.size());
    to += bytes.size();
    left -= bytes.size();
    skipped = 0;
  }
  return part;
}

std::vector<Tensor> CutFrame(const EncodedFrame& frame, size_t part_bytes) {
  std::vector<Tensor> parts;
  for (size_t i = 0; i < NumParts(frame, part_bytes); ++i)
    parts.push_back(CutPart(frame, part_bytes, i));
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
