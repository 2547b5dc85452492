// Frames too large for one message, in parts: so a heartbeat or another caller's frame gets through
// between two of them.
#pragma once

#include <span>
#include <vector>

#include "sextant/net/frame.h"

namespace sextant::net {

// Copies the frame into byte tensors of "part_bytes", the last one smaller.
std::vector<Tensor> CutFrame(const EncodedFrame& frame, size_t part_bytes);
// One of them alone. REQUIRES: index < NumParts.
Tensor CutPart(const EncodedFrame& frame, size_t part_bytes, size_t index);
inline size_t NumParts(const EncodedFrame& frame, size_t part_bytes) {
  return (frame.bytes + part_bytes - 1) / part_bytes;
}
// The frame that was cut. Throws as DecodeFrame does; DATA_LOSS for parts that are no bytes.
DecodedFrame JoinFrame(std::span<const Tensor> parts, Allocator& allocator = HostAllocator());

}  // namespace sextant::net
