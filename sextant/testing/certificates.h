// Keys and certificates for tests of TLS, made when a test runs: none is in the repository.
#pragma once

#include <memory>
#include <string>

namespace sextant {

// Signs certificates for "localhost" and 127.0.0.1.
class CertificateAuthority {
 public:
  explicit CertificateAuthority(const std::string& name);
  ~CertificateAuthority();
  CertificateAuthority(const CertificateAuthority&) = delete;
  CertificateAuthority& operator=(const CertificateAuthority&) = delete;

  // PEM of its own certificate.
  std::string certificate() const;

  struct Pair {
    std::string certificate, key;  // PEM
  };
  enum class Validity { kNow, kExpired };
  Pair Issue(const std::string& name, Validity validity = Validity::kNow) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The PEM of a key, encrypted with a password.
std::string EncryptKey(const std::string& key, const std::string& password);

}  // namespace sextant
