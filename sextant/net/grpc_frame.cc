#include "sextant/net/grpc_frame.h"

#include <grpcpp/support/slice.h>

#include "sextant/base/error.h"

namespace sextant::net {

grpc::ByteBuffer ToByteBuffer(EncodedFrame frame) {
  std::vector<grpc::Slice> slices;
  slices.reserve(frame.pieces.size());
  for (FramePiece& piece : frame.pieces) {
    auto* owner = new BufferRef(std::move(piece.owner));
    slices.emplace_back(
        const_cast<char*>(piece.bytes.data()), piece.bytes.size(),
        [](void* held) { delete static_cast<BufferRef*>(held); }, owner);
  }
  return {slices.data(), slices.size()};
}

DecodedFrame FromByteBuffer(const grpc::ByteBuffer& buffer, Allocator& allocator) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Valid() || !buffer.Dump(&slices).ok())
    throw DataLoss("a message that cannot be read as a frame");
  std::vector<std::string_view> pieces;
  pieces.reserve(slices.size());
  for (const grpc::Slice& slice : slices)
    pieces.emplace_back(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return DecodeFrame(pieces, allocator);
}

}  // namespace sextant::net
