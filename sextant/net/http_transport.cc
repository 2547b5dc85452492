#include "sextant/net/http_transport.h"

#include <openssl/ssl.h>

#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <string>

#include "sextant/base/error.h"

namespace sextant::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

template <typename Socket>
class PlainTransport final : public HttpTransport {
 public:
  explicit PlainTransport(Socket socket) : socket_(std::move(socket)) {}
  void Handshake(Done done) override { done({}, 0); }
  void ReadSome(asio::mutable_buffer buffer, Done done) override {
    socket_.async_read_some(buffer, std::move(done));
  }
  void Write(const Buffers& buffers, Done done) override {
    asio::async_write(socket_, buffers, std::move(done));
  }
  void Shutdown(Done done) override {
    error_code error;
    socket_.shutdown(Socket::shutdown_send, error);
    done(error, 0);
  }
  void Close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
};

class TlsTransport final : public HttpTransport {
 public:
  TlsTransport(asio::ip::tcp::socket socket, std::shared_ptr<TlsContext> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}
  void Handshake(Done done) override {
    stream_.async_handshake(asio::ssl::stream_base::server,
                            [done = std::move(done)](error_code error) { done(error, 0); });
  }
  void ReadSome(asio::mutable_buffer buffer, Done done) override {
    stream_.async_read_some(buffer, std::move(done));
  }
  // A buffer becomes at least one record and one system call: short ones are joined.
  void Write(const Buffers& buffers, Done done) override {
    if (asio::buffer_size(buffers) > kRecord) {
      asio::async_write(stream_, buffers, std::move(done));
      return;
    }
    joined_.clear();
    for (const asio::const_buffer& buffer : buffers) {
      joined_.append(static_cast<const char*>(buffer.data()), buffer.size());
    }
    asio::async_write(stream_, asio::buffer(joined_), std::move(done));
  }
  void Shutdown(Done done) override {
    stream_.async_shutdown([done = std::move(done)](error_code error) { done(error, 0); });
  }
  void Close() override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

 private:
  static constexpr size_t kRecord = size_t{16} << 10;  // at most so much is in one
  const std::shared_ptr<TlsContext> context_;
  asio::ssl::stream<asio::ip::tcp::socket> stream_;
  std::string joined_;
};

}  // namespace

std::shared_ptr<TlsContext> MakeTlsContext(const TlsConfig& tls) {
  auto context = std::make_shared<TlsContext>(TlsContext::tls_server);
  context->set_options(TlsContext::default_workarounds | TlsContext::no_sslv2 |
                       TlsContext::no_sslv3 | TlsContext::no_tlsv1 | TlsContext::no_tlsv1_1 |
                       TlsContext::single_dh_use);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION);
  const auto check = [](const error_code& error, const char* what) {
    if (error) throw InvalidArgument("the TLS {} cannot be used: {}", what, error.message());
  };
  error_code error;
  context->use_certificate_chain(asio::buffer(tls.certificate), error);
  check(error, "certificate");
  context->use_private_key(asio::buffer(tls.private_key), TlsContext::pem, error);
  check(error, "private key");
  if (SSL_CTX_check_private_key(context->native_handle()) != 1) {
    throw InvalidArgument("the TLS private key does not belong to the certificate");
  }
  if (!tls.client_ca.empty()) {
    context->add_certificate_authority(asio::buffer(tls.client_ca), error);
    check(error, "certificate authority of clients");
  }
  if (tls.verify_client) {
    if (tls.client_ca.empty()) {
      throw InvalidArgument("clients cannot be verified without a certificate authority");
    }
    context->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  }
  return context;
}

void CheckTls(const TlsConfig& tls) { MakeTlsContext(tls); }

std::unique_ptr<HttpTransport> NewTransport(asio::ip::tcp::socket socket) {
  return std::make_unique<PlainTransport<asio::ip::tcp::socket>>(std::move(socket));
}
std::unique_ptr<HttpTransport> NewTransport(asio::ip::tcp::socket socket,
                                            std::shared_ptr<TlsContext> context) {
  return std::make_unique<TlsTransport>(std::move(socket), std::move(context));
}
std::unique_ptr<HttpTransport> NewTransport(asio::local::stream_protocol::socket socket) {
  return std::make_unique<PlainTransport<asio::local::stream_protocol::socket>>(std::move(socket));
}

}  // namespace sextant::net
