#include "sextant/net/credentials.h"

#include <grpcpp/client_context.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/utf8.h"
#include "sextant/net/pem_files.h"

namespace sextant::net {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr size_t kLongestToken = 4096;

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

std::array<unsigned char, SHA256_DIGEST_LENGTH> Digest(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
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

void CheckToken(std::string_view token, std::string_view source) {
  constexpr std::string_view kMayBe =
      "a token is one line of up to 4096 ASCII letters, digits and signs, without spaces";
  if (token.empty()) throw InvalidArgument("{} holds no token: {}", source, kMayBe);
  if (token.size() > kLongestToken)
    throw InvalidArgument("the token in {} has {} bytes: {}", source, token.size(), kMayBe);
  const auto wrong =
      std::ranges::find_if(token, [](char byte) { return byte < '!' || byte > '~'; });
  if (wrong != token.end()) {
    throw InvalidArgument("byte {} of the token in {} cannot be in one: {}",
                          wrong - token.begin() + 1, source, kMayBe);
  }
}

Token::Token(const CredentialOptions& options) {
  if (options.token_file.empty()) return;
  const std::string bytes = FileSystem::ForPath(options.token_file).ReadFile(options.token_file);
  const std::string_view text = WithoutByteOrderMark(bytes);
  value_ = text.substr(0, text.find_first_of("\r\n"));
  CheckToken(value_, options.token_file);
}

void Token::AddTo(grpc::ClientContext& context) const {
  if (!value_.empty()) context.AddMetadata(kAuthorizationKey, std::string(kBearer) + value_);
}

bool Token::Matches(std::string_view authorization) const {
  if (value_.empty()) return true;
  if (!authorization.starts_with(kBearer)) return false;
  // Digests have one length, so that the time tells nothing of the token's.
  const auto wanted = Digest(value_), got = Digest(authorization.substr(kBearer.size()));
  return CRYPTO_memcmp(wanted.data(), got.data(), wanted.size()) == 0;
}

}  // namespace sextant::net
