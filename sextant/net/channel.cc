#include "sextant/net/channel.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/channel_arguments.h>

#include "sextant/base/logging.h"

namespace sextant::net {
namespace {

// A part or a frame, and its header.
constexpr int kMaxMessageBytes = static_cast<int>(kMaxFrameBytes + (size_t{8} << 20));
constexpr int kHttp2FrameBytes = (1 << 24) - 1;  // the largest that HTTP/2 allows
constexpr int kKeepaliveMs = 10'000, kKeepaliveTimeoutMs = 5'000, kLeastPingMs = 5'000;
constexpr int kFirstReconnectMs = 100, kLastReconnectMs = 2'000, kConnectMs = 5'000;

// Messages travel in a header of limited size.
constexpr size_t kLongestMessage = 2000;

// A call that is cancelled before it begins, on a channel that is never closed.
struct EndlessCall {
  EndlessCall() {
    context.TryCancel();
    stub.UnaryCall(&context, "/sextant/None", grpc::StubOptions(), &request, &response,
                   [](const grpc::Status&) {});
  }
  grpc::GenericStub stub{grpc::CreateChannel("unix:/", grpc::InsecureChannelCredentials())};
  grpc::ClientContext context;
  grpc::Slice nothing;
  grpc::ByteBuffer request{&nothing, 1}, response;
};

// Once started, gRPC stays: it shuts itself down with its last object otherwise, and that may wait
// for a keepalive, ten seconds. So do its threads for callbacks: they end with the last channel or
// server that has made a call, and in gRPC 1.51 that is a race which aborts the process. What gRPC
// logs is also in the status of a call.
void StartGrpc() {
  static const bool done = [] {
    grpc_init();
    [[gnu::used]] static const auto* endless = new EndlessCall();  // leak checkers find it here
    gpr_set_log_function([](gpr_log_func_args* line) { LogDebug("gRPC: {}", line->message); });
    return true;
  }();
  static_cast<void>(done);
}

bool Holds(const grpc::Status& status, std::string_view text) {
  return status.error_message().find(text) != std::string::npos;
}

// "No route to host" of "failed to connect to all addresses; last error: UNKNOWN: ipv4:1.2.3.4:5:
// No route to host".
std::string LastError(const std::string& message) {
  const size_t colon = message.rfind(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address, ChannelUse use,
                                           const CredentialOptions& credentials) {
  StartGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  // Channels with equal settings would share one connection.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectMs);  // time that an attempt has
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLastReconnectMs);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, kLastReconnectMs);
  if (use == ChannelUse::kBulk) arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameBytes);
  return grpc::CreateCustomChannel(address, MakeChannelCredentials(credentials), arguments);
}

void ConfigureServer(grpc::ServerBuilder& builder) {
  StartGrpc();
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kHttp2FrameBytes);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kLeastPingMs);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // a port in use is an error
}

Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return {};
  const auto code = static_cast<Code>(status.error_code());
  switch (HindranceOf(status)) {
    case Hindrance::kRefused:
      return Status(code, "connection refused");
    case Hindrance::kUnresolved:
      return Status(code, "its name cannot be resolved");
    case Hindrance::kHandshake:
      return Status(code, "the connection was closed as soon as it was made");
    case Hindrance::kStranger:
      return Status(code, "what listens there does not speak gRPC");
    case Hindrance::kNoWay:
      return Status(code, "there is no connection: " + LastError(status.error_message()));
    case Hindrance::kNone:
      break;
  }
  if (code == Code::kDeadlineExceeded && status.error_message() == "Deadline Exceeded")
    return Status(code, "it has not answered in time");
  return Status(code, status.error_message());
}

grpc::Status ToGrpcStatus(const Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return {static_cast<grpc::StatusCode>(status.code()),
          status.message().substr(0, kLongestMessage)};
}

Hindrance HindranceOf(const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return Hindrance::kNone;
  if (Holds(status, "DNS resolution failed")) return Hindrance::kUnresolved;
  if (!Holds(status, "failed to connect to all addresses")) return Hindrance::kNone;
  if (Holds(status, "Connection refused")) return Hindrance::kRefused;
  if (Holds(status, "handshake failed") || Holds(status, "Socket closed") ||
      Holds(status, "Connection reset"))
    return Hindrance::kHandshake;
  if (Holds(status, "http1.x server") || Holds(status, "Failed parsing HTTP/2"))
    return Hindrance::kStranger;
  return Hindrance::kNoWay;
}

bool IsTransient(Code code) {
  return code == Code::kUnavailable || code == Code::kDeadlineExceeded;
}

}  // namespace sextant::net
