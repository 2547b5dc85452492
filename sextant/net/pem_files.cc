#include "sextant/net/pem_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant::net {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using SslContext = std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)>;

// Instead of OpenSSL's own, which asks at the terminal.
int GiveNoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Bio Open(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(std::min<size_t>(text.size(), INT_MAX))),
          BIO_free};
}

std::string ReadFile(const std::string& path) { return FileSystem::ForPath(path).ReadFile(path); }

bool HoldsKey(std::string_view text) {
  return text.find("PRIVATE KEY-----") != std::string_view::npos;
}
bool HoldsCertificate(std::string_view text) {
  return text.find("CERTIFICATE-----") != std::string_view::npos;
}

// What OpenSSL says of the last call, which failed.
std::string Reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  ERR_clear_error();
  return reason == nullptr ? "it does not say why" : reason;
}

std::vector<Certificate> ParseCertificates(const std::string& text, const std::string& path) {
  const Bio bio = Open(text);
  bool asked = false;
  std::vector<Certificate> all;
  ERR_clear_error();
  while (X509* next = PEM_read_bio_X509_AUX(bio.get(), nullptr, GiveNoPassword, &asked))
    all.emplace_back(next, X509_free);
  const unsigned long error = ERR_peek_last_error();
  if (ERR_GET_LIB(error) != ERR_LIB_PEM || ERR_GET_REASON(error) != PEM_R_NO_START_LINE) {
    throw InvalidArgument("certificate {} of {} cannot be read ({}): make the file anew",
                          all.size() + 1, path, Reason());
  }
  ERR_clear_error();
  if (all.empty()) {
    throw InvalidArgument("{} holds {}: give a file with a certificate in PEM form", path,
                          HoldsKey(text) ? "a private key and no certificate" : "no certificate");
  }
  return all;
}

Key ParseKey(const std::string& text, const std::string& path) {
  if (!HoldsKey(text)) {
    throw InvalidArgument("{} holds {}: give a file with a private key in PEM form", path,
                          HoldsCertificate(text) ? "a certificate and no key" : "no key");
  }
  const Bio bio = Open(text);
  bool asked = false;
  ERR_clear_error();
  Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, GiveNoPassword, &asked), EVP_PKEY_free);
  if (asked) {
    ERR_clear_error();
    throw InvalidArgument(
        "the private key in {} is encrypted, and nobody is asked for its password: give the key "
        "without one (openssl pkey -in KEY -out PLAIN) in a file that only its user can read",
        path);
  }
  if (!key) {
    throw InvalidArgument("the private key in {} cannot be read ({}): make the file anew", path,
                          Reason());
  }
  ERR_clear_error();
  return key;
}

void CheckTheyMatch(const std::vector<Certificate>& certificates, EVP_PKEY* key,
                    const std::string& cert_file, const std::string& key_file) {
  const auto owner = std::ranges::find_if(certificates, [&](const Certificate& certificate) {
    return X509_check_private_key(certificate.get(), key) == 1;
  });
  ERR_clear_error();
  if (owner == certificates.begin()) return;
  if (owner == certificates.end()) {
    throw InvalidArgument(
        "the key in {} is not that of the certificate in {}: give the two that were made together",
        key_file, cert_file);
  }
  throw InvalidArgument(
      "the key in {} is that of certificate {} of {}: put that one first in its file", key_file,
      owner - certificates.begin() + 1, cert_file);
}

// As gRPC will use them.
void CheckTheyServe(X509* certificate, EVP_PKEY* key, const std::string& cert_file,
                    const std::string& key_file) {
  const SslContext context(SSL_CTX_new(TLS_method()), SSL_CTX_free);
  ERR_clear_error();
  if (SSL_CTX_use_certificate(context.get(), certificate) != 1 ||
      SSL_CTX_use_PrivateKey(context.get(), key) != 1) {
    throw InvalidArgument(
        "the certificate in {} and its key in {} are of no use for TLS ({}): make stronger ones",
        cert_file, key_file, Reason());
  }
}

}  // namespace

std::string ReadCertificates(const std::string& path) {
  std::string text = ReadFile(path);
  ParseCertificates(text, path);
  return text;
}

KeyPair ReadKeyPair(const std::string& cert_file, const std::string& key_file) {
  KeyPair pair{ReadFile(cert_file), ReadFile(key_file)};
  if (HoldsKey(pair.certificate) && !HoldsCertificate(pair.certificate) && !HoldsKey(pair.key) &&
      HoldsCertificate(pair.key)) {
    throw InvalidArgument(
        "{} was given as the certificate and holds a private key, {} was given as the key and "
        "holds a certificate: swap them",
        cert_file, key_file);
  }
  const std::vector<Certificate> certificates = ParseCertificates(pair.certificate, cert_file);
  const Key key = ParseKey(pair.key, key_file);
  CheckTheyMatch(certificates, key.get(), cert_file, key_file);
  CheckTheyServe(certificates.front().get(), key.get(), cert_file, key_file);
  return pair;
}

}  // namespace sextant::net
