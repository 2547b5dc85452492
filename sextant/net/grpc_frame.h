// Frames in gRPC's own buffers, without a copy on the way out and with one on the way in.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <span>
#include <string_view>

#include "sextant/net/frame.h"

namespace sextant::net {

// Takes over the pieces; each is let go when gRPC has dropped the slice made of it, which may be
// after the call has returned.
grpc::ByteBuffer ToByteBuffer(EncodedFrame frame);

// Throws as DecodeFrame does; DATA_LOSS also for a buffer that cannot be read.
DecodedFrame FromByteBuffer(const grpc::ByteBuffer& buffer, Allocator& allocator = HostAllocator());

}  // namespace sextant::net
