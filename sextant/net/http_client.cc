#include "sextant/net/http_client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"

namespace sextant::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

}  // namespace

HttpUrl ParseHttpUrl(const std::string& text) {
  HttpUrl url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.server.tls = true;
    url.server.port = 443;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    throw InvalidArgument("'{}' does not begin with http:// or https://", text);
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view host = rest.substr(0, slash);
  url.target = slash < rest.size() ? std::string(rest.substr(slash)) : "/";
  if (const size_t colon = host.rfind(':'); colon != std::string_view::npos) {
    int32_t port = 0;
    if (!ParseNumber(host.substr(colon + 1), &port) || port < 1 || port > 65535) {
      throw InvalidArgument("'{}' has no port that can be", text);
    }
    url.server.port = port;
    host = host.substr(0, colon);
  }
  url.server.host = host;
  return url;
}

// Operations are asynchronous, as only those obey deadlines, and waited for one by one.
class HttpClient::State {
 public:
  explicit State(const HttpClientOptions& options)
      : options_(options), tls_(asio::ssl::context::tls_client) {
    if (!options.tls) return;
    try {
      if (options.ca.empty()) {
        tls_.set_default_verify_paths();
      } else {
        tls_.add_certificate_authority(asio::buffer(options.ca));
      }
      if (!options.client_certificate.empty()) {
        tls_.use_certificate_chain(asio::buffer(options.client_certificate));
        tls_.use_private_key(asio::buffer(options.client_key), asio::ssl::context::pem);
      }
    } catch (const boost::system::system_error& error) {
      throw InvalidArgument("the TLS texts of a client cannot be used: {}", error.what());
    }
    tls_.set_verify_mode(asio::ssl::verify_peer);
    tls_.set_verify_callback(asio::ssl::host_name_verification(options.host));
  }

  HttpResult Ask(http::verb verb, const std::string& target, std::string_view body,
                 const Headers& headers) {
    http::request<http::string_body> request(verb, target, 11);
    request.set(http::field::host, options_.host);
    for (const auto& [name, value] : headers) request.set(name, value);
    request.body() = body;
    request.prepare_payload();
    const bool fresh = !stream_;
    try {
      return TryAsk(request);
    } catch (const Error& error) {
      stream_.reset();
      // The server may have closed a connection that was idle.
      if (fresh || error.code() != Code::kUnavailable) throw;
    }
    return TryAsk(request);
  }

 private:
  using Stream = asio::ssl::stream<beast::tcp_stream>;

  template <typename Start>
  void Await(const char* what, const Start& start) {
    error_code result = asio::error::would_block;
    beast::get_lowest_layer(*stream_).expires_after(options_.timeout);
    start([&](error_code error, auto&&...) { result = error; });
    context_.restart();
    context_.run();
    if (!result) return;
    stream_.reset();
    if (result == beast::error::timeout) {
      throw MakeError<Code::kDeadlineExceeded>("{}:{} did not answer in time", options_.host,
                                               options_.port);
    }
    throw MakeError<Code::kUnavailable>("{}:{}: {}: {}", options_.host, options_.port, what,
                                        result.message());
  }
  void Connect() {
    error_code error;
    asio::ip::tcp::resolver resolver(context_);
    const auto found = resolver.resolve(options_.host, std::to_string(options_.port), error);
    if (error) {
      throw MakeError<Code::kUnavailable>("{}: {}", options_.host, error.message());
    }
    stream_.emplace(context_, tls_);
    buffer_.clear();
    Await("connecting", [&](auto done) { stream_->next_layer().async_connect(found, done); });
    stream_->next_layer().socket().set_option(asio::ip::tcp::no_delay(true), error);
    if (!options_.tls) return;
    SSL_set_tlsext_host_name(stream_->native_handle(), options_.host.c_str());
    Await("TLS",
          [&](auto done) { stream_->async_handshake(asio::ssl::stream_base::client, done); });
  }
  HttpResult TryAsk(const http::request<http::string_body>& request) {
    if (!stream_) Connect();
    http::response_parser<http::string_body> parser;
    parser.body_limit(uint64_t{1} << 31);
    if (options_.tls) {
      // In one piece: header and body by themselves would be records and system calls of their own.
      std::ostringstream text;
      text << request;
      const std::string bytes = text.str();
      Await("sending", [&](auto done) { asio::async_write(*stream_, asio::buffer(bytes), done); });
      Await("reading", [&](auto done) { http::async_read(*stream_, buffer_, parser, done); });
    } else {
      auto& plain = stream_->next_layer();
      Await("sending", [&](auto done) { http::async_write(plain, request, done); });
      Await("reading", [&](auto done) { http::async_read(plain, buffer_, parser, done); });
    }
    HttpResult result{static_cast<int>(parser.get().result_int()), std::move(parser.get().body())};
    if (!parser.keep_alive()) stream_.reset();
    return result;
  }

  const HttpClientOptions options_;
  asio::io_context context_{1};
  asio::ssl::context tls_;
  std::optional<Stream> stream_;
  beast::flat_buffer buffer_;
};

HttpClient::HttpClient(const HttpClientOptions& options)
    : state_(std::make_unique<State>(options)) {}
HttpClient::~HttpClient() = default;
HttpResult HttpClient::Get(const std::string& target, const Headers& headers) {
  return state_->Ask(http::verb::get, target, "", headers);
}
HttpResult HttpClient::Post(const std::string& target, std::string_view body,
                            const Headers& headers) {
  return state_->Ask(http::verb::post, target, body, headers);
}

}  // namespace sextant::net
