// Credentials: how processes prove to each other who they are, and who may talk to whom.
//
//   TLS           ca_file of the other side's certificate; cert_file and key_file of our own
//   mutual TLS    a server that also asks clients for a certificate that its ca_file signed
//   token         a secret that all processes of a cluster hold, sent with every call (token.h)
//
// Nothing here logs or prints a secret.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "sextant/net/credential_options.h"

namespace sextant::net {

// Both throw NOT_FOUND or INVALID_ARGUMENT, naming the file, when one cannot be read or used
// (pem_files.h), and INVALID_ARGUMENT for a certificate without a key, for a server with a CA but
// no certificate, and for a client with a certificate but no CA. Without any of these files they
// are plain text.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const CredentialOptions& options);
std::shared_ptr<grpc::ChannelCredentials> MakeChannelCredentials(const CredentialOptions& options);

}  // namespace sextant::net
