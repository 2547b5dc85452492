#include "sextant/net/http_connection.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/net/gzip.h"

namespace sextant::net {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr size_t kHeaderRead = size_t{8} << 10, kBodyRead = size_t{128} << 10;
// How long a client may go on sending after an answer that closes the connection: closing at once
// would reset the connection, and the client might never see the answer.
constexpr std::chrono::seconds kLinger{2};

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

// The text of an error in the form of TensorFlow Serving's REST interface.
std::string ErrorBody(std::string_view message) {
  std::string body = "{\"error\": \"";
  for (const char c : message) {
    if (c == '"' || c == '\\') body += '\\';
    body += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return body + "\"}";
}

int StatusOf(const error_code& error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit) return 431;
  return 400;
}

}  // namespace

void HttpResponder::Send(HttpReply reply) const {
  connection_->Reply([reply = std::move(reply)]() mutable { return std::move(reply); });
}
void HttpResponder::Send(std::function<HttpReply()> make) const {
  connection_->Reply(std::move(make));
}
void HttpResponder::Later(std::function<void()> run) const { connection_->Later(std::move(run)); }
bool HttpResponder::ClientLeft() const { return connection_->client_left(); }

HttpConnection::HttpConnection(asio::io_context& context, HttpShared& shared,
                               std::unique_ptr<HttpTransport> transport,
                               std::function<void(HttpConnection&)> closed)
    : context_(context),
      shared_(shared),
      transport_(std::move(transport)),
      closed_(std::move(closed)),
      buffer_(shared.options.limits.header_bytes + kBodyRead) {}

HttpConnection::~HttpConnection() { Claim(-claimed_); }

std::string_view HttpConnection::method() const { return View(parser_->get().method_string()); }
std::string_view HttpConnection::target() const { return View(parser_->get().target()); }
std::string_view HttpConnection::Header(std::string_view name) const {
  return View(parser_->get()[boost::beast::string_view(name.data(), name.size())]);
}

void HttpConnection::Claim(int64_t bytes) {
  claimed_ += bytes;
  shared_.bytes_in_flight.fetch_add(bytes, std::memory_order_relaxed);
}

// For a body that grows by so many bytes. If there is no room for them, the client is answered.
bool HttpConnection::TryClaim(int64_t bytes) {
  const int64_t now = shared_.bytes_in_flight.load(std::memory_order_relaxed);
  if (now + bytes > shared_.options.limits.bytes_in_flight) {
    Refuse(503, "too many bytes are being read; try again later");
    return false;
  }
  Claim(bytes);
  return true;
}

void HttpConnection::Enter(Phase phase, Clock::duration timeout) {
  phase_ = phase;
  deadline_ = Clock::now() + timeout;
}

void HttpConnection::Start() {
  Enter(Phase::kHandshake, shared_.options.limits.header_timeout);
  transport_->Handshake([self = shared_from_this()](error_code error, size_t) {
    if (error) return self->Close();
    self->NextRequest();
  });
}

void HttpConnection::Sweep(Clock::time_point now) {
  if (phase_ == Phase::kAnswering || phase_ == Phase::kClosed) return;
  if (now >= deadline_) {
    if (phase_ == Phase::kHeader || phase_ == Phase::kBody) {
      return Refuse(408, "the request takes too long to arrive");
    }
    return Close();
  }
  if (phase_ == Phase::kIdle && shared_.draining.load(std::memory_order_relaxed)) Close();
}

void HttpConnection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  transport_->Close();
  closed_(*this);
}

void HttpConnection::NextRequest() {
  Claim(-claimed_);
  chunks_ = 0;
  parser_.emplace();
  parser_->header_limit(static_cast<uint32_t>(shared_.options.limits.header_bytes));
  parser_->body_limit(shared_.options.limits.body_bytes);
  parser_->eager(false);
  on_chunk_ = [this](uint64_t, boost::beast::string_view, boost::beast::error_code& error) {
    if (++chunks_ > shared_.options.limits.chunks) error = http::error::bad_chunk;
  };
  parser_->on_chunk_header(on_chunk_);
  Enter(Phase::kIdle, shared_.options.limits.idle_timeout);
  if (buffer_.size() > 0) return Received(0);  // a client that does not wait for answers
  if (!reading_) ReadMore();                   // it may have begun while the answer was made
}

void HttpConnection::ReadMore() {
  const size_t most = buffer_.max_size() - buffer_.size();
  const size_t size = std::min(most, phase_ == Phase::kBody ? kBodyRead : kHeaderRead);
  if (size == 0) return Refuse(431, "the header is too long");
  reading_ = true;
  transport_->ReadSome(buffer_.prepare(size),
                       [self = shared_from_this()](error_code error, size_t bytes) {
                         self->reading_ = false;
                         if (self->phase_ == Phase::kClosed) return;
                         if (error) return self->ReadFailed(error);
                         self->Received(bytes);
                       });
}

// While a request is answered, the end of what the client sends means that it has left. It is
// answered all the same, as it may have closed its side only.
void HttpConnection::ReadFailed(const error_code& error) {
  if (phase_ != Phase::kAnswering && phase_ != Phase::kWriting) return Close();
  client_left_.store(true, std::memory_order_relaxed);
  keep_alive_ = false;
  if (error != asio::error::eof && phase_ == Phase::kAnswering) Close();
}

void HttpConnection::Received(size_t bytes) {
  buffer_.commit(bytes);
  if (phase_ == Phase::kClosing) return DrainInput();
  if (phase_ == Phase::kIdle) Enter(Phase::kHeader, shared_.options.limits.header_timeout);
  if (phase_ == Phase::kHeader || phase_ == Phase::kBody) Parse();
}

void HttpConnection::Parse() {
  for (;;) {
    if (phase_ == Phase::kHeader && parser_->is_header_done() && !HeaderDone()) return;
    if (phase_ == Phase::kBody) {
      if (!BodyGrew()) return;
      if (parser_->is_done()) return Dispatch();
    }
    if (buffer_.size() == 0) return ReadMore();
    error_code error;
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error && error != http::error::need_more) {
      return Refuse(StatusOf(error), fmt::format("no HTTP request: {}", error.message()));
    }
    if (used == 0) return ReadMore();
  }
}

// Whether the body may follow; if not, the client is answered.
bool HttpConnection::HeaderDone() {
  const HttpLimits& limits = shared_.options.limits;
  keep_alive_ = parser_->keep_alive();
  Enter(Phase::kBody, limits.body_grace);
  body_begun_ = Clock::now();
  parser_->eager(true);
  const auto length = parser_->content_length();
  if (length && *length > limits.body_bytes) {
    Refuse(413,
           fmt::format("the body has {} bytes; at most {} are taken", *length, limits.body_bytes));
    return false;
  }
  if (!TryClaim(length ? static_cast<int64_t>(*length) : 0)) return false;
  if (View(parser_->get()[http::field::expect]) == "100-continue" && !parser_->is_done()) {
    head_ = "HTTP/1.1 100 Continue\r\n\r\n";
    transport_->Write({asio::buffer(head_), asio::const_buffer()},
                      [self = shared_from_this()](error_code error, size_t) {
                        if (self->phase_ != Phase::kBody) return;
                        if (error) return self->Close();
                        self->Parse();
                      });
    return false;
  }
  return true;
}

// Whether the body may go on; if not, the client is answered.
bool HttpConnection::BodyGrew() {
  const HttpLimits& limits = shared_.options.limits;
  const auto size = static_cast<int64_t>(body().size());
  if (size > claimed_ && !TryClaim(size - claimed_)) return false;  // a body in chunks
  deadline_ = body_begun_ + limits.body_grace +
              std::chrono::milliseconds(1000 * size / limits.body_bytes_per_second);
  return true;
}

void HttpConnection::Dispatch() {
  phase_ = Phase::kAnswering;
  try {
    const std::string_view encoding = Header("Content-Encoding");
    if (boost::beast::iequals({encoding.data(), encoding.size()}, "gzip")) {
      std::string unpacked = Gunzip(body(), shared_.options.limits.body_bytes);
      if (!TryClaim(static_cast<int64_t>(unpacked.size()))) return;
      body() = std::move(unpacked);
    } else if (!encoding.empty() &&
               !boost::beast::iequals({encoding.data(), encoding.size()}, "identity")) {
      return Refuse(415, "bodies may be packed with gzip only");
    }
    shared_.handler(*this, HttpResponder(shared_from_this()));
    // Reads on, to see the client leave.
    if (phase_ == Phase::kAnswering && buffer_.size() == 0) ReadMore();
  } catch (const Error& error) {
    Refuse(error.code() == Code::kInvalidArgument     ? 400
           : error.code() == Code::kResourceExhausted ? 413
                                                      : 500,
           error.message());
  } catch (const std::exception& error) {
    LogError("a request failed: {}", error.what());
    Refuse(500, "internal error");
  }
}

void HttpConnection::Reply(std::function<HttpReply()> make) {
  asio::dispatch(context_, [self = shared_from_this(), make = std::move(make)] {
    if (self->phase_ == Phase::kAnswering) self->Write(make());
  });
}

void HttpConnection::Later(std::function<void()> run) {
  // The context handles what it has found ready first.
  asio::post(context_, [self = shared_from_this(), run = std::move(run)] { run(); });
}

void HttpConnection::Refuse(int status, std::string_view message) {
  keep_alive_ = false;
  HttpReply reply{.status = status, .body = ErrorBody(message)};
  if (status == 503) reply.headers.emplace_back("Retry-After", "1");
  Write(std::move(reply));
}

void HttpConnection::Write(HttpReply reply) {
  Enter(Phase::kWriting, shared_.options.limits.write_timeout);
  if (shared_.draining.load(std::memory_order_relaxed)) keep_alive_ = false;
  const bool header_done = parser_->is_header_done();
  if (header_done && reply.body.size() >= shared_.options.gzip_from) {
    const std::string_view accepted = Header("Accept-Encoding");
    if (http::token_list(boost::beast::string_view(accepted.data(), accepted.size()))
            .exists("gzip")) {
      reply.body = Gzip(reply.body);
      reply.headers.emplace_back("Content-Encoding", "gzip");
    }
  }
  head_.clear();
  fmt::format_to(std::back_inserter(head_),
                 "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", reply.status,
                 View(http::obsolete_reason(static_cast<http::status>(reply.status))),
                 reply.content_type, reply.body.size());
  for (const auto& [name, value] : reply.headers) {
    head_.append(name).append(": ").append(value).append("\r\n");
  }
  if (!keep_alive_) {
    head_ += "Connection: close\r\n";
  } else if (parser_->get().version() < 11) {
    head_ += "Connection: keep-alive\r\n";
  }
  head_ += "\r\n";
  reply_ = std::move(reply.body);
  if (header_done && parser_->get().method() == http::verb::head) reply_.clear();
  shared_.requests.fetch_add(1, std::memory_order_relaxed);
  transport_->Write({asio::buffer(head_), asio::buffer(reply_)},
                    [self = shared_from_this()](error_code error, size_t) {
                      if (self->phase_ != Phase::kWriting) return;
                      if (error) return self->Close();
                      self->Written();
                    });
}

void HttpConnection::Written() {
  if (reply_.capacity() > kBodyRead) std::string().swap(reply_);
  if (keep_alive_) return NextRequest();
  BeginShutdown();
}

void HttpConnection::BeginShutdown() {
  std::string().swap(body());  // a client that lingers holds no memory
  Claim(-claimed_);
  Enter(Phase::kClosing, kLinger);
  transport_->Shutdown([self = shared_from_this()](error_code error, size_t) {
    if (self->phase_ != Phase::kClosing) return;
    if (error) return self->Close();
    self->DrainInput();
  });
}

// Reads and forgets what a client still sends, until it closes or kLinger is over.
void HttpConnection::DrainInput() {
  if (reading_) return;  // goes on here when that is done
  buffer_.consume(buffer_.size());
  ReadMore();
}

}  // namespace sextant::net
