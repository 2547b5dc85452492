#include "sextant/datasets/test_http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace sextant::datasets {

TestHttpServer::TestHttpServer(std::string content, TestHttpServerOptions options)
    : content_(std::move(content)), options_(options) {
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 8) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::abort();
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

TestHttpServer::~TestHttpServer() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

std::string TestHttpServer::url() const { return fmt::format("http://127.0.0.1:{}", port_); }

std::vector<std::string> TestHttpServer::ranges() const {
  const std::lock_guard lock(mutex_);
  return ranges_;
}

void TestHttpServer::Serve() {
  while (true) {
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) return;
    Answer(connection);
    close(connection);
  }
}

void TestHttpServer::Answer(int connection) {
  std::string request;
  char buffer[4096];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0) return;
    request.append(buffer, static_cast<size_t>(count));
  }
  const size_t header = request.find("Range: ");
  const std::string range =
      header == std::string::npos
          ? ""
          : request.substr(header + 7, request.find("\r\n", header) - header - 7);
  std::string status = "200 OK", body = content_;
  if (!request.starts_with("GET /file.bin ")) {
    status = "404 Not Found";
    body = "no such file";
  } else {
    const std::lock_guard lock(mutex_);
    ranges_.push_back(range);
    if (!range.empty() && options_.ranges) {
      const size_t begin = std::strtoull(range.c_str() + 6, nullptr, 10);
      status = begin < content_.size() ? "206 Partial Content" : "416 Range Not Satisfiable";
      body = begin < content_.size() ? content_.substr(begin) : "";
    }
  }
  std::string answer = fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                                   status, body.size());
  const bool cut = options_.cut_after > 0 && num_requests() == 1;
  answer += cut ? body.substr(0, options_.cut_after) : body;
  for (size_t sent = 0; sent < answer.size();) {
    const ssize_t count = send(connection, &answer[sent], answer.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<size_t>(count);
  }
}

}  // namespace sextant::datasets
