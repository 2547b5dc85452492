#include "sextant/net/credentials.h"

#include <cstdlib>
#include <string>

#include "sextant/base/error.h"
#include "sextant/net/pem_files.h"

namespace sextant::net {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

KeyPair ReadOwnPair(const CredentialOptions& options) {
  if (options.cert_file.empty() != options.key_file.empty()) {
    throw InvalidArgument("a certificate needs its key: {} was given without the other",
                          options.cert_file.empty() ? options.key_file : options.cert_file);
  }
  if (options.cert_file.empty()) return {};
  return ReadKeyPair(options.cert_file, options.key_file);
}

}  // namespace

CredentialOptions CredentialsFromEnvironment() {
  return {.ca_file = Variable("SEXTANT_TLS_CA"),
          .cert_file = Variable("SEXTANT_TLS_CERT"),
          .key_file = Variable("SEXTANT_TLS_KEY"),
          .client_certificates = Variable("SEXTANT_TLS_CLIENTS") == "1",
          .token_file = Variable("SEXTANT_TOKEN_FILE")};
}

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const CredentialOptions& options) {
  const KeyPair pair = ReadOwnPair(options);
  if (pair.certificate.empty()) {
    if (options.client_certificates)
      throw InvalidArgument("a server that asks clients for certificates needs one of its own");
    if (!options.ca_file.empty()) {
      throw InvalidArgument(
          "a server was given a CA file but no certificate, so it could not speak TLS: give its "
          "certificate and key too (SEXTANT_TLS_CERT, SEXTANT_TLS_KEY), or take the CA file {} "
          "away",
          options.ca_file);
    }
    return grpc::InsecureServerCredentials();
  }
  grpc::SslServerCredentialsOptions ssl(
      options.client_certificates ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                  : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE);
  if (options.client_certificates && options.ca_file.empty())
    throw InvalidArgument("a server that asks clients for certificates needs a CA file");
  if (!options.ca_file.empty()) {
    const std::string roots = ReadCertificates(options.ca_file);
    if (options.client_certificates) ssl.pem_root_certs = roots;
  }
  ssl.pem_key_cert_pairs.push_back({pair.key, pair.certificate});
  return grpc::SslServerCredentials(ssl);
}

std::shared_ptr<grpc::ChannelCredentials> MakeChannelCredentials(const CredentialOptions& options) {
  if (options.ca_file.empty()) {
    if (!options.cert_file.empty() || !options.key_file.empty())
      throw InvalidArgument("TLS needs a CA file to check the other side's certificate with");
    return grpc::InsecureChannelCredentials();
  }
  const KeyPair pair = ReadOwnPair(options);
  grpc::SslCredentialsOptions ssl;
  ssl.pem_root_certs = ReadCertificates(options.ca_file);
  ssl.pem_private_key = pair.key;
  ssl.pem_cert_chain = pair.certificate;
  return grpc::SslCredentials(ssl);
}

}  // namespace sextant::net
