#include "sextant/testing/fault_proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

namespace sextant {
namespace {

using std::chrono::milliseconds;
using Way = FaultProxy::Way;

sockaddr_in LocalAddress(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A connection through the proxy, seen from both ends.
class FaultProxyTest : public testing::Test {
 protected:
  FaultProxyTest() : listener_(Listen()), proxy_(port_) {}
  ~FaultProxyTest() override {
    for (const int fd : {client_, server_, listener_}) {
      if (fd >= 0) close(fd);
    }
  }

  int Listen() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = LocalAddress(0);
    socklen_t size = sizeof(address);
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(fd, generic, size), 0);
    EXPECT_EQ(listen(fd, 8), 0);
    EXPECT_EQ(getsockname(fd, generic, &size), 0);
    port_ = ntohs(address.sin_port);
    return fd;
  }
  void Connect() {
    client_ = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = LocalAddress(proxy_.port());
    ASSERT_EQ(connect(client_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    server_ = accept(listener_, nullptr, nullptr);
    ASSERT_GE(server_, 0);
  }
  static void Send(int fd, const std::string& bytes) {
    EXPECT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // What comes until so many bytes are there, the connection ends or the time is over.
  static std::string Receive(int fd, size_t count, milliseconds time) {
    std::string bytes;
    pollfd polled = {fd, POLLIN, 0};
    while (bytes.size() < count && poll(&polled, 1, static_cast<int>(time.count())) == 1) {
      char part[4096];
      const ssize_t got = read(fd, part, std::min(sizeof(part), count - bytes.size()));
      if (got <= 0) return bytes + (got == 0 ? "<end>" : "<reset>");
      bytes.append(part, static_cast<size_t>(got));
    }
    return bytes;
  }
  static std::string Receive(int fd, size_t count) {
    return Receive(fd, count, milliseconds(5000));
  }

  int port_ = 0;
  const int listener_;
  FaultProxy proxy_;
  int client_ = -1, server_ = -1;
};

TEST_F(FaultProxyTest, ForwardsBothWaysAndEnds) {
  Connect();
  Send(client_, "to the server");
  EXPECT_EQ(Receive(server_, 13), "to the server");
  Send(server_, "back");
  EXPECT_EQ(Receive(client_, 4), "back");
  shutdown(client_, SHUT_WR);
  EXPECT_EQ(Receive(server_, 1), "<end>");
  EXPECT_EQ(proxy_.bytes(Way::kToServer), 13);
  EXPECT_EQ(proxy_.connections(), 1);
}

TEST_F(FaultProxyTest, Delays) {
  Connect();
  proxy_.Set({.delay = milliseconds(50)});
  const auto start = std::chrono::steady_clock::now();
  Send(client_, "late");
  EXPECT_EQ(Receive(server_, 4), "late");
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(50));
}

TEST_F(FaultProxyTest, WhatIsLostComesLater) {
  Connect();
  proxy_.Set({.lost = 1});
  const auto start = std::chrono::steady_clock::now();
  Send(client_, "again");
  EXPECT_EQ(Receive(server_, 5), "again");
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(200));
}

TEST_F(FaultProxyTest, LimitsTheRate) {
  Connect();
  proxy_.Set({.bytes_per_second = 100'000});
  const auto start = std::chrono::steady_clock::now();
  Send(client_, std::string(20'000, 'x'));
  EXPECT_EQ(Receive(server_, 20'000).size(), 20'000u);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(180));
}

TEST_F(FaultProxyTest, StallsAndGoesOn) {
  Connect();
  proxy_.Set({.stall = true});
  Send(client_, "waits");
  EXPECT_EQ(Receive(server_, 5, milliseconds(50)), "");
  proxy_.Set({});
  EXPECT_EQ(Receive(server_, 5), "waits");
}

TEST_F(FaultProxyTest, BlackHoleIsOneWay) {
  Connect();
  proxy_.Set({.black_hole = Way::kToServer});
  Send(client_, "lost");
  Send(server_, "arrives");
  EXPECT_EQ(Receive(client_, 7), "arrives");
  EXPECT_EQ(Receive(server_, 4, milliseconds(50)), "");
  proxy_.Set({});
  Send(client_, "kept");
  EXPECT_EQ(Receive(server_, 4), "kept");
}

TEST_F(FaultProxyTest, CutsInMidMessage) {
  Connect();
  proxy_.CutAfter(Way::kToServer, 5);
  Send(client_, "0123456789");
  // A reset may overtake the bytes before it.
  const std::string got = Receive(server_, 10);
  EXPECT_TRUE(got == "01234<reset>" || got == "<reset>") << got;
  EXPECT_EQ(Receive(client_, 1), "<reset>");
  EXPECT_EQ(proxy_.cuts(), 1);
}

TEST_F(FaultProxyTest, ResetsAndRefuses) {
  Connect();
  proxy_.Reset();
  EXPECT_EQ(Receive(client_, 1), "<reset>");
  EXPECT_EQ(Receive(server_, 1), "<reset>");
  proxy_.Set({.refuse = true});
  close(client_);
  client_ = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = LocalAddress(proxy_.port());
  connect(client_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  EXPECT_EQ(Receive(client_, 1), "<reset>");
}

}  // namespace
}  // namespace sextant
