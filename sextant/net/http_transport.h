// HttpTransport: the socket of a connection, plain or with TLS, behind one interface. Inside of
// HttpServer.
#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>

#include "sextant/net/http_server.h"

namespace sextant::net {

using TlsContext = boost::asio::ssl::context;
// Throws INVALID_ARGUMENT, saying which of the texts does not fit.
std::shared_ptr<TlsContext> MakeTlsContext(const TlsConfig& tls);

// Used by the thread of its io_context alone.
class HttpTransport {
 public:
  using Done = std::function<void(boost::system::error_code error, size_t bytes)>;
  using Buffers = std::array<boost::asio::const_buffer, 2>;

  virtual ~HttpTransport() = default;
  virtual void Handshake(Done done) = 0;
  virtual void ReadSome(boost::asio::mutable_buffer buffer, Done done) = 0;
  virtual void Write(const Buffers& buffers, Done done) = 0;  // all of them
  // Tells the other side that nothing follows.
  virtual void Shutdown(Done done) = 0;
  virtual void Close() = 0;
};

std::unique_ptr<HttpTransport> NewTransport(boost::asio::ip::tcp::socket socket);
std::unique_ptr<HttpTransport> NewTransport(boost::asio::ip::tcp::socket socket,
                                            std::shared_ptr<TlsContext> context);
std::unique_ptr<HttpTransport> NewTransport(boost::asio::local::stream_protocol::socket socket);

}  // namespace sextant::net
