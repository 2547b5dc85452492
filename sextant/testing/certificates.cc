#include "sextant/testing/certificates.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

constexpr long kDay = 24 * 60 * 60;

Key NewKey() {
  Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  if (!key) throw Internal("OpenSSL made no key");
  return key;
}

void AddExtension(X509* certificate, X509* issuer, int kind, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value);
  if (extension == nullptr) throw Internal("OpenSSL refused the extension {}", value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Issued by itself when "issuer" is null.
Certificate NewCertificate(const std::string& name, EVP_PKEY* key, X509* issuer, long from,
                           long until) {
  static long serial = 1;
  Certificate certificate(X509_new(), X509_free);
  X509* x509 = certificate.get();
  X509_set_version(x509, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), serial++);
  X509_gmtime_adj(X509_getm_notBefore(x509), from);
  X509_gmtime_adj(X509_getm_notAfter(x509), until);
  X509_set_pubkey(x509, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x509, X509_get_subject_name(issuer ? issuer : x509));
  return certificate;
}

template <typename Write>
std::string ToPem(Write&& write) {
  BIO* memory = BIO_new(BIO_s_mem());
  write(memory);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(memory, &bytes);
  std::string text(bytes, static_cast<size_t>(size));
  BIO_free(memory);
  return text;
}

std::string CertificateToPem(X509* certificate) {
  return ToPem([&](BIO* out) { PEM_write_bio_X509(out, certificate); });
}

}  // namespace

struct CertificateAuthority::State {
  Key key = NewKey();
  Certificate certificate{nullptr, X509_free};
};

CertificateAuthority::CertificateAuthority(const std::string& name)
    : state_(std::make_unique<State>()) {
  state_->certificate = NewCertificate(name, state_->key.get(), nullptr, -kDay, kDay);
  X509* x509 = state_->certificate.get();
  AddExtension(x509, x509, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(x509, x509, NID_key_usage, "critical,keyCertSign,cRLSign");
  X509_sign(x509, state_->key.get(), EVP_sha256());
}
CertificateAuthority::~CertificateAuthority() = default;

std::string CertificateAuthority::certificate() const {
  return CertificateToPem(state_->certificate.get());
}

CertificateAuthority::Pair CertificateAuthority::Issue(const std::string& name,
                                                       Validity validity) const {
  const Key key = NewKey();
  const long until = validity == Validity::kNow ? kDay : -kDay / 2;
  const Certificate certificate =
      NewCertificate(name, key.get(), state_->certificate.get(), -kDay, until);
  AddExtension(certificate.get(), state_->certificate.get(), NID_subject_alt_name,
               "DNS:localhost,IP:127.0.0.1");
  X509_sign(certificate.get(), state_->key.get(), EVP_sha256());
  return {CertificateToPem(certificate.get()), ToPem([&](BIO* out) {
            PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

std::string EncryptKey(const std::string& key, const std::string& password) {
  BIO* memory = BIO_new_mem_buf(key.data(), static_cast<int>(key.size()));
  const Key plain(PEM_read_bio_PrivateKey(memory, nullptr, nullptr, nullptr), EVP_PKEY_free);
  BIO_free(memory);
  return ToPem([&](BIO* out) {
    PEM_write_bio_PrivateKey(out, plain.get(), EVP_aes_256_cbc(),
                             reinterpret_cast<const unsigned char*>(password.data()),
                             static_cast<int>(password.size()), nullptr, nullptr);
  });
}

}  // namespace sextant
