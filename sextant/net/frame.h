// Frames: a message and a list of tensors as one run of bytes, the unit in which tensors travel
// between processes.
//
//   EncodedFrame frame = EncodeFrame(call.SerializeAsString(), tensors);
//   for (const FramePiece& piece : frame.pieces) Send(piece.bytes);        // no tensor was copied
//   DecodedFrame got = DecodeFrame(pieces);                                // one copy into place
//
// Layout, all integers little-endian:
//
//   u32 magic "SXTF"   u16 version = 1   u16 flags = 0
//   u32 header bytes, these 24 included  u32 masked CRC32C of the header without this field
//   u32 message bytes  u32 number of tensors
//   message
//   per tensor: u8 dtype, u8 rank, u16 0, u32 0, i64 dims[rank], u64 payload bytes
//   payloads in order, each preceded by zeros up to a multiple of 64
//
// The payload of a plain tensor is its elements in row-major order; of a string tensor, a u64
// length for each element, then their bytes. A tensor without a value has dtype 0 and no payload.
// The CRC guards the header alone: TCP and TLS guard what follows.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/tensor/buffer.h"
#include "sextant/tensor/tensor.h"

namespace sextant::net {

// A stretch of memory to be sent. It stays as it is while "owner" is held.
struct FramePiece {
  std::string_view bytes;
  BufferRef owner;  // empty for static memory
};

struct EncodedFrame {
  std::vector<FramePiece> pieces;
  size_t bytes = 0;  // of all pieces
};

// Tensors of at least 1 KiB are borrowed, smaller ones and strings are copied. Throws
// INVALID_ARGUMENT for resources and variants, which belong to a process.
EncodedFrame EncodeFrame(std::string_view message, std::span<const Tensor> tensors);

struct DecodedFrame {
  std::string message;
  std::vector<Tensor> tensors;  // each with memory of its own
};

// A whole frame in pieces of any sizes, as the network cut it. Throws DATA_LOSS, saying what is
// wrong, for bytes that are no frame, and UNIMPLEMENTED for another version. Allocates no more than
// a small multiple of the frame.
DecodedFrame DecodeFrame(std::span<const std::string_view> pieces,
                         Allocator& allocator = HostAllocator());

// A whole frame that lies in one piece at the beginning of the buffer. Tensors that EncodeFrame
// would borrow stay there and hold the buffer, the others are copied, and so are bools: another
// process may write to the buffer after they have been checked. Throws as DecodeFrame does.
DecodedFrame DecodeFrameInPlace(const BufferRef& buffer, size_t bytes);

}  // namespace sextant::net
