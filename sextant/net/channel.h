// Channels: gRPC connections by our rules, the same on both sides.
//
// Between two processes there are two connections, so that a large frame in flight does not delay
// a small control message behind it. A connection that is lost is made anew after 100 ms to 2 s,
// with its name resolved again, since a restarted task may have another address. Keepalive finds a
// peer that is silent. Proxy settings of the environment are for the internet: they are ignored.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/server_builder.h>

#include <memory>
#include <string>

#include "sextant/base/error.h"
#include "sextant/net/credentials.h"

namespace sextant::net {

// Frames above the first size are sent in parts of the second.
inline constexpr size_t kMaxFrameBytes = size_t{64} << 20;
inline constexpr size_t kPartBytes = size_t{16} << 20;

enum class ChannelUse { kBulk, kControl };

// To "host:port" or "unix:path". Nothing is connected yet.
std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, ChannelUse use,
                                           const CredentialOptions& credentials);

// Gives a server the counterparts of these settings.
void ConfigureServer(grpc::ServerBuilder& builder);

// gRPC's codes are ours. Its words for what is in a call's way become sentences.
Status FromGrpcStatus(const grpc::Status& status);
grpc::Status ToGrpcStatus(const Status& status);
// Whether the same call may go through later.
bool IsTransient(Code code);

// What kept a call from reaching the other side.
enum class Hindrance {
  kNone,        // it got there, or was cut off on the way
  kRefused,     // nobody listens at the port
  kUnresolved,  // the name has no address
  kHandshake,   // the connection was closed as soon as it was made: see DiagnoseTls
  kStranger,    // what listens there does not speak HTTP/2
  kNoWay,       // there was no connection for another reason
};
Hindrance HindranceOf(const grpc::Status& status);

}  // namespace sextant::net
