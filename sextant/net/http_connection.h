// HttpConnection: one client of an HttpServer: reads a request, has it answered, writes the reply,
// and so on. Used by the thread of its io_context, except for Reply.
//
// Deadlines are looked at by Sweep, which the server calls a few times a second for every
// connection: a timer per operation would cost more than many a request.
#pragma once

#include <atomic>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <string>

#include "sextant/net/http_transport.h"

namespace sextant::net {

// What the connections of a server share.
struct HttpShared {
  HttpServerOptions options;
  HttpHandler handler;
  std::atomic<int64_t> connections{0}, bytes_in_flight{0}, requests{0};
  std::atomic<bool> draining{false};
};

class HttpConnection final : public HttpRequest,
                             public std::enable_shared_from_this<HttpConnection> {
 public:
  using Clock = std::chrono::steady_clock;
  // "closed" is called on the thread of "context" when the connection has ended.
  HttpConnection(boost::asio::io_context& context, HttpShared& shared,
                 std::unique_ptr<HttpTransport> transport,
                 std::function<void(HttpConnection&)> closed);
  ~HttpConnection();

  void Start();
  // Closes what is past its deadline and, while the server drains, what waits for a request.
  void Sweep(Clock::time_point now);
  void Close();
  // From any thread.
  void Reply(std::function<HttpReply()> make);
  void Later(std::function<void()> run);
  bool client_left() const { return client_left_.load(std::memory_order_relaxed); }

  std::string_view method() const override;
  std::string_view target() const override;
  std::string_view Header(std::string_view name) const override;
  std::string& body() override { return parser_->get().body(); }

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Phase { kHandshake, kIdle, kHeader, kBody, kAnswering, kWriting, kClosing, kClosed };

  void Enter(Phase phase, Clock::duration timeout);
  void NextRequest();
  void ReadMore();
  void ReadFailed(const boost::system::error_code& error);
  void Received(size_t bytes);
  // Parses what is there and goes on from there.
  void Parse();
  bool HeaderDone();
  bool BodyGrew();
  void Dispatch();
  void Write(HttpReply reply);
  void Written();
  void Refuse(int status, std::string_view message);
  void BeginShutdown();
  void DrainInput();
  void Claim(int64_t bytes);
  bool TryClaim(int64_t bytes);

  boost::asio::io_context& context_;
  HttpShared& shared_;
  const std::unique_ptr<HttpTransport> transport_;
  const std::function<void(HttpConnection&)> closed_;
  Phase phase_ = Phase::kHandshake;
  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point body_begun_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::function<void(uint64_t, boost::beast::string_view, boost::beast::error_code&)> on_chunk_;
  int chunks_ = 0;
  int64_t claimed_ = 0;  // of the server's bytes in flight
  bool keep_alive_ = false, reading_ = false;
  std::atomic<bool> client_left_{false};
  std::string head_, reply_;  // being written
};

}  // namespace sextant::net
