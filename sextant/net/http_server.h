// HttpServer: HTTP/1.1 on TCP or unix sockets, with or without TLS. It alone knows Boost.Beast.
//
//   HttpServer server({.port = 8501}, [](HttpRequest& request, HttpResponder responder) {
//     responder.Send({.body = fmt::format("{{\"path\": \"{}\"}}", request.target())});
//   });
//   Connect(server.port());
//   ...
//   server.Drain(std::chrono::seconds(30));
//
// A thread per core accepts connections of its own and serves them; requests of one connection are
// answered in their order. What a client can cost is bounded by HttpLimits: a request beyond them
// is answered with 400, 408, 413, 431 or 503, and its connection closed.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::net {

struct HttpLimits {
  size_t body_bytes = size_t{64} << 20;  // unpacked too
  size_t header_bytes = size_t{16} << 10;
  int64_t bytes_in_flight = int64_t{1} << 30;  // of all bodies being read or answered
  int connections = 4096;
  int chunks = 65536;                               // of one body
  std::chrono::milliseconds header_timeout{10000};  // for the header, from its first byte on
  std::chrono::milliseconds idle_timeout{75000};    // between requests
  std::chrono::milliseconds body_grace{10000};      // for a body, beyond its least rate
  int64_t body_bytes_per_second = 4096;
  std::chrono::milliseconds write_timeout{30000};
};

// PEM texts.
struct TlsConfig {
  std::string certificate, private_key;
  std::string client_ca;       // who signs certificates of clients
  bool verify_client = false;  // clients must have one
};

// Throws INVALID_ARGUMENT, saying which of the texts does not fit.
void CheckTls(const TlsConfig& tls);

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  int port = 0;                          // 0: any free one
  std::string unix_path;                 // instead of address and port
  int threads = 0;                       // 0: one per core
  std::shared_ptr<const TlsConfig> tls;  // null: none
  HttpLimits limits;
  size_t gzip_from = size_t{32} << 10;  // replies of this size are packed for clients that ask
};

// What was asked. Lives until the request is answered.
class HttpRequest {
 public:
  virtual std::string_view method() const = 0;
  virtual std::string_view target() const = 0;  // as sent: "/v1/models/a%20b?x=1"
  virtual std::string_view Header(std::string_view name) const = 0;  // "" when there is none
  virtual std::string& body() = 0;                                   // unpacked

 protected:
  ~HttpRequest() = default;
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
};

class HttpConnection;

// Answers one request, once, from any thread. Without an answer the client waits. Must not outlive
// the server.
class HttpResponder {
 public:
  explicit HttpResponder(std::shared_ptr<HttpConnection> connection)
      : connection_(std::move(connection)) {}
  void Send(HttpReply reply) const;
  // "make" is called on the thread of the connection. It must not throw.
  void Send(std::function<HttpReply()> make) const;
  // Has "run" called on the thread of the connection, behind all requests that it can read without
  // waiting. From the handler.
  void Later(std::function<void()> run) const;
  // The client has closed its side before it was answered: it does not wait any more. From any
  // thread.
  bool ClientLeft() const;

 private:
  std::shared_ptr<HttpConnection> connection_;
};

// Called on the threads of the server, so it should not take long. An exception is answered with
// 500.
using HttpHandler = std::function<void(HttpRequest& request, HttpResponder responder)>;

struct HttpCounts {
  int64_t connections = 0;  // open
  int64_t bytes_in_flight = 0;
  int64_t requests = 0;  // answered since the start
};

class HttpServer {
 public:
  // Listens. Throws UNAVAILABLE when the address is in use or not ours, INVALID_ARGUMENT for
  // certificates and keys that do not fit.
  HttpServer(const HttpServerOptions& options, HttpHandler handler);
  // Stops.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;  // 0 of a unix socket
  HttpCounts counts() const;
  // For connections accepted from now on. Throws INVALID_ARGUMENT, and keeps what it had. REQUIRES:
  // the server was made with TLS.
  void SetTls(const TlsConfig& tls);

  // Accepts no more connections, answers what was sent, closes, and stops; what takes longer than
  // "limit" is cut off. Further calls do nothing.
  void Drain(std::chrono::milliseconds limit);
  // At once.
  void Stop();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant::net
