// What a process shows, and asks of others, when they connect: files and nothing secret.
#pragma once

#include <string>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::net {

struct SEXTANT_API CredentialOptions {
  std::string ca_file;    // PEM: whose signature on the other side's certificate is trusted
  std::string cert_file;  // PEM: our own certificate chain …
  std::string key_file;   // … and its key
  bool client_certificates = false;  // of a server: clients must show one, signed by ca_file
  std::string token_file;            // its first line is the token

  // Whether connections that we make are TLS: we know whom to trust.
  bool client_tls() const { return !ca_file.empty(); }
  // Whether those that we take are: we have a certificate. A CA alone secures no server.
  bool server_tls() const { return !cert_file.empty(); }
  // Whether a stranger is kept out.
  bool guarded() const { return client_certificates || !token_file.empty(); }
};

// From SEXTANT_TLS_CA, SEXTANT_TLS_CERT, SEXTANT_TLS_KEY, SEXTANT_TLS_CLIENTS (1: ask clients for
// certificates) and SEXTANT_TOKEN_FILE.
CredentialOptions CredentialsFromEnvironment();

}  // namespace sextant::net

#pragma GCC visibility pop
