#include "sextant/net/tls_diagnosis.h"

#include <netdb.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <memory>

namespace sextant::net {
namespace {

using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;
using SslConnection = std::unique_ptr<SSL, decltype(&SSL_free)>;

constexpr timeval kLongestWait = {.tv_sec = 0, .tv_usec = 500'000};

// A connected socket, or -1.
int ConnectTo(const std::string& host, const std::string& port) {
  addrinfo wanted = {}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return -1;
  int fd = -1;
  for (const addrinfo* one = found; one != nullptr && fd < 0; one = one->ai_next) {
    fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kLongestWait, sizeof(kLongestWait));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kLongestWait, sizeof(kLongestWait));
    if (connect(fd, one->ai_addr, one->ai_addrlen) != 0) {
      close(fd);
      fd = -1;
    }
  }
  freeaddrinfo(found);
  return fd;
}

struct OwnedSocket {
  ~OwnedSocket() {
    if (fd >= 0) close(fd);
  }
  const int fd;
};

std::string LastReason() {
  const unsigned long error = ERR_peek_last_error();
  const char* reason = ERR_reason_error_string(error);
  return reason == nullptr ? "" : reason;
}

// Why a server that has shown its certificate closes the connection without a word.
std::string RefusedClient(SSL* ssl) {
  const X509* own = SSL_get_certificate(ssl);
  if (own == nullptr) {
    return "it asks for a certificate of ours: name it in SEXTANT_TLS_CERT and its key in "
           "SEXTANT_TLS_KEY";
  }
  if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
    return "it does not accept our certificate, which has expired";
  return "it does not accept our certificate: is it signed by the CA that the server trusts?";
}

// In TLS 1.3 a client knows whether its certificate was taken only by the first bytes that come.
std::optional<std::string> TrySecure(SSL* ssl) {
  ERR_clear_error();
  if (SSL_connect(ssl) == 1) {
    char byte = 0;
    const int count = SSL_read(ssl, &byte, 1);
    if (count == 1 || SSL_get_error(ssl, count) == SSL_ERROR_WANT_READ) return std::nullopt;
    return RefusedClient(ssl);
  }
  if (const long result = SSL_get_verify_result(ssl); result != X509_V_OK) {
    return std::string("its certificate is not accepted: ") + X509_verify_cert_error_string(result);
  }
  const std::string reason = LastReason();
  if (reason == "wrong version number" || reason == "packet length too long")
    return "it does not speak TLS";
  if (reason.find("alert") != std::string::npos)
    return "it does not accept our certificate: " + reason;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> DiagnoseTls(const std::string& address,
                                       const CredentialOptions& credentials) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || address.starts_with("unix:")) return std::nullopt;
  std::string host = address.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const OwnedSocket socket{ConnectTo(host, address.substr(colon + 1))};
  if (socket.fd < 0) return std::nullopt;

  const SslContext context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  const unsigned char protocol[] = {2, 'h', '2'};
  SSL_CTX_set_alpn_protos(context.get(), protocol, sizeof(protocol));
  if (credentials.client_tls()) {
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    SSL_CTX_load_verify_locations(context.get(), credentials.ca_file.c_str(), nullptr);
    if (!credentials.cert_file.empty()) {
      // A key that has been replaced by an encrypted one since: nobody is asked for its password.
      SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return -1; });
      SSL_CTX_use_certificate_chain_file(context.get(), credentials.cert_file.c_str());
      SSL_CTX_use_PrivateKey_file(context.get(), credentials.key_file.c_str(), SSL_FILETYPE_PEM);
    }
  }
  const SslConnection ssl(SSL_new(context.get()), SSL_free);
  SSL_set_fd(ssl.get(), socket.fd);
  if (credentials.client_tls()) {
    X509_VERIFY_PARAM* rules = SSL_get0_param(ssl.get());
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) != 1) {
      SSL_set_tlsext_host_name(ssl.get(), host.c_str());
      SSL_set1_host(ssl.get(), host.c_str());
    }
    return TrySecure(ssl.get());
  }
  ERR_clear_error();
  const bool secure =
      SSL_connect(ssl.get()) == 1 || LastReason().find("alert") != std::string::npos;
  if (!secure) return std::nullopt;
  return "it speaks TLS: name the file of its CA in SEXTANT_TLS_CA";
}

}  // namespace sextant::net
