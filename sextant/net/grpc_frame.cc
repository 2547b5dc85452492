#include "sextant/net/grpc_frame.h"

#include <grpcpp/support/slice.h>

#include "sextant/base/error.h"
#include "sextant/net/handover.h"

namespace sextant::net {
namespace {

// What gRPC sends from where it is, and drops on a thread of its own.
struct Lent {
  explicit Lent(BufferRef lent) : buffer(std::move(lent)) { handover.Give(); }
  static void Drop(void* held) {
    auto* lent = static_cast<Lent*>(held);
    lent->handover.Take();
    delete lent;
  }
  BufferRef buffer;
  Handover handover;
};

}  // namespace

grpc::ByteBuffer ToByteBuffer(EncodedFrame frame) {
  std::vector<grpc::Slice> slices;
  slices.reserve(frame.pieces.size());
  for (FramePiece& piece : frame.pieces) {
    slices.emplace_back(const_cast<char*>(piece.bytes.data()), piece.bytes.size(), &Lent::Drop,
                        new Lent(std::move(piece.owner)));
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
