#include "sextant/cli/cluster/credential_arguments.h"

namespace sextant::cli {

void AddCredentialArguments(Command& command, net::CredentialOptions* credentials) {
  command.AddOption("--tls_ca FILE", &credentials->ca_file,
                    "the CA that signed the other side's certificate (SEXTANT_TLS_CA)");
  command.AddOption("--tls_cert FILE", &credentials->cert_file,
                    "our own certificate (SEXTANT_TLS_CERT)");
  command.AddOption("--tls_key FILE", &credentials->key_file, "its key (SEXTANT_TLS_KEY)");
  command.AddFlag("--tls_clients", &credentials->client_certificates,
                  "a server asks its clients for certificates (SEXTANT_TLS_CLIENTS=1)");
  command.AddOption("--token_file FILE", &credentials->token_file,
                    "its first line is the token of the cluster (SEXTANT_TOKEN_FILE)");
}

}  // namespace sextant::cli
