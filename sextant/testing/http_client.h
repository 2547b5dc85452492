// For tests: an HTTP client that can also send what no proper client would.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

struct HttpAnswer {
  int status = 0;  // 0: the connection ended without an answer
  std::string head, body;
};

// One connection to 127.0.0.1, or to a unix socket. Waits at most ten seconds for anything.
class TestHttpClient {
 public:
  explicit TestHttpClient(int port);
  explicit TestHttpClient(const std::string& unix_path);
  ~TestHttpClient();
  TestHttpClient(const TestHttpClient&) = delete;
  TestHttpClient& operator=(const TestHttpClient&) = delete;

  HttpAnswer Get(std::string_view target);
  HttpAnswer Post(std::string_view target, std::string_view body, std::string_view headers = "");

  // Bytes as they are. False when the other side has closed.
  bool Send(std::string_view bytes);
  HttpAnswer Receive();
  // Whether the other side has closed, all it sent being read.
  bool Closed();

 private:
  bool Fill();

  int socket_ = -1;
  std::string buffer_;
};

}  // namespace sextant
