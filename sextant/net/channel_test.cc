#include "sextant/net/channel.h"

#include <grpcpp/client_context.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <optional>

#include "sextant/testing/echo_server.h"

namespace sextant::net {
namespace {

TEST(ChannelTest, MessagesMayBeLarge) {
  const EchoServer server;
  const std::string message(size_t{40} << 20, 'x');  // gRPC's own limit is 4 MB
  std::string answer;
  const grpc::Status status = Echo(server.address(), {}, message, &answer);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer, message);
}

TEST(ChannelTest, ProxiesOfTheEnvironmentAreIgnored) {
  const EchoServer server;
  setenv("http_proxy", "http://127.0.0.1:9", 1);
  std::string answer;
  const grpc::Status status = Echo(server.address(), {}, "hello", &answer);
  unsetenv("http_proxy");
  EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST(ChannelTest, SaysWhatIsInTheWay) {
  int port = 0;
  { port = EchoServer().port(); }
  std::string answer;
  const grpc::Status refused = Echo("127.0.0.1:" + std::to_string(port), {}, "a", &answer);
  EXPECT_EQ(HindranceOf(refused), Hindrance::kRefused) << refused.error_message();
  EXPECT_EQ(FromGrpcStatus(refused).code(), Code::kUnavailable);
  EXPECT_EQ(FromGrpcStatus(refused).message(), "connection refused");
  const grpc::Status nameless = Echo("no.such.host.invalid:1", {}, "a", &answer);
  EXPECT_EQ(HindranceOf(nameless), Hindrance::kUnresolved) << nameless.error_message();
  const grpc::Status away(
      grpc::StatusCode::UNAVAILABLE,
      "failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.1:5: No route to host");
  EXPECT_EQ(FromGrpcStatus(away).message(), "there is no connection: No route to host");
  const grpc::Status late(grpc::StatusCode::DEADLINE_EXCEEDED, "Deadline Exceeded");
  EXPECT_EQ(FromGrpcStatus(late).message(), "it has not answered in time");
}

TEST(ChannelTest, ConnectsAgainToAServerThatIsBack) {
  auto server = std::make_optional<EchoServer>();
  const int port = server->port();
  const auto channel = MakeChannel(server->address(), ChannelUse::kControl, {});
  const auto wait = [&](std::chrono::seconds time) {
    return channel->WaitForConnected(std::chrono::system_clock::now() + time);
  };
  ASSERT_TRUE(wait(std::chrono::seconds(5)));
  server.reset();
  EXPECT_TRUE(channel->WaitForStateChange(
      GRPC_CHANNEL_READY, std::chrono::system_clock::now() + std::chrono::seconds(5)));
  EXPECT_FALSE(wait(std::chrono::seconds(1)));
  server.emplace(CredentialOptions{}, port);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(wait(std::chrono::seconds(10)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(3000));
}

TEST(ChannelTest, StatusesKeepCodeAndMessage) {
  const Status status(Code::kOutOfRange, "no rows left");
  const Status back = FromGrpcStatus(ToGrpcStatus(status));
  EXPECT_EQ(back.code(), Code::kOutOfRange);
  EXPECT_EQ(back.message(), "no rows left");
  EXPECT_TRUE(FromGrpcStatus(ToGrpcStatus(Status())).ok());
  EXPECT_TRUE(IsTransient(Code::kUnavailable) && IsTransient(Code::kDeadlineExceeded));
  EXPECT_FALSE(IsTransient(Code::kAborted) || IsTransient(Code::kInternal));
}

}  // namespace
}  // namespace sextant::net
