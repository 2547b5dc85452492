#include "sextant/testing/http_client.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "sextant/base/error.h"

namespace sextant {
namespace {

int Connect(int family, const sockaddr* address, socklen_t size) {
  const int socket = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (::connect(socket, address, size) != 0) {
    ::close(socket);
    throw Error(Code::kUnavailable, std::strerror(errno));
  }
  return socket;
}

}  // namespace

TestHttpClient::TestHttpClient(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socket_ = Connect(AF_INET, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

TestHttpClient::TestHttpClient(const std::string& unix_path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  unix_path.copy(address.sun_path, sizeof address.sun_path - 1);
  socket_ = Connect(AF_UNIX, reinterpret_cast<sockaddr*>(&address), sizeof address);
}

TestHttpClient::~TestHttpClient() { ::close(socket_); }

bool TestHttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool TestHttpClient::Fill() {
  char bytes[65536];
  const ssize_t size = ::recv(socket_, bytes, sizeof bytes, 0);
  if (size <= 0) return false;
  buffer_.append(bytes, static_cast<size_t>(size));
  return true;
}

HttpAnswer TestHttpClient::Receive() {
  HttpAnswer answer;
  size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill()) return answer;
  }
  answer.head = buffer_.substr(0, end + 2);
  buffer_.erase(0, end + 4);
  size_t length = 0;
  if (const size_t at = answer.head.find("Content-Length: "); at != std::string::npos) {
    length = std::stoul(answer.head.substr(at + 16));
  }
  while (buffer_.size() < length) {
    if (!Fill()) return answer;
  }
  answer.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  answer.status = std::stoi(answer.head.substr(9, 3));
  return answer;
}

bool TestHttpClient::Closed() {
  char byte;
  return buffer_.empty() && ::recv(socket_, &byte, 1, 0) == 0;
}

HttpAnswer TestHttpClient::Get(std::string_view target) {
  Send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target));
  return Receive();
}

HttpAnswer TestHttpClient::Post(std::string_view target, std::string_view body,
                                std::string_view headers) {
  Send(fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n{}", target,
                   headers, body.size(), body));
  return Receive();
}

}  // namespace sextant
