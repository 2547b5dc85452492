// HttpClient: one connection to an HTTP server, used again for request after request.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::net {

struct HttpClientOptions {
  std::string host = "127.0.0.1";
  int port = 80;
  bool tls = false;
  std::string ca =
      {};  // PEM: who signed the server's certificate; "": those that the system trusts
  std::string client_certificate = {}, client_key = {};  // PEM
  std::chrono::milliseconds timeout{30000};              // of one request
};

// "http://HOST[:PORT][/TARGET]" or "https://...". Throws INVALID_ARGUMENT.
struct HttpUrl {
  HttpClientOptions server;
  std::string target;
};
HttpUrl ParseHttpUrl(const std::string& text);

struct HttpResult {
  int status = 0;
  std::string body;
};

// Used by one thread at a time.
class HttpClient {
 public:
  // Connects with the first request.
  explicit HttpClient(const HttpClientOptions& options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  using Headers = std::vector<std::pair<std::string, std::string>>;
  // Any answer is a result, also one that tells of an error. Throws UNAVAILABLE when there is no
  // answer, DEADLINE_EXCEEDED when it takes too long. A connection that the server has closed
  // meanwhile is opened again.
  HttpResult Get(const std::string& target, const Headers& headers = {});
  HttpResult Post(const std::string& target, std::string_view body, const Headers& headers = {});

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::net
