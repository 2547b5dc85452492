// Credentials: how processes prove to each other who they are, and who may talk to whom.
//
//   TLS           ca_file of the other side's certificate; cert_file and key_file of our own
//   mutual TLS    a server that also asks clients for a certificate that its ca_file signed
//   token         a secret that all processes of a cluster hold, sent with every call
//
// Nothing here logs or prints a secret.
#pragma once

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>
#include <string_view>

#include "sextant/net/credential_options.h"

namespace grpc {
class ClientContext;
}

namespace sextant::net {

// Both throw NOT_FOUND or INVALID_ARGUMENT, naming the file, when one cannot be read or used
// (pem_files.h), and INVALID_ARGUMENT for a certificate without a key, for a server with a CA but
// no certificate, and for a client with a certificate but no CA. Without any of these files they
// are plain text.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const CredentialOptions& options);
std::shared_ptr<grpc::ChannelCredentials> MakeChannelCredentials(const CredentialOptions& options);

// Throws INVALID_ARGUMENT, naming the source, for a token that cannot be sent: gRPC ends the
// process for bytes that are not printable ASCII, and the other side refuses a long one.
void CheckToken(std::string_view token, std::string_view source);

// The token of a cluster. Read once; "" where none is asked for.
class Token {
 public:
  // Throws NOT_FOUND, naming the file, when it cannot be read; INVALID_ARGUMENT when it is empty,
  // longer than 4096 bytes or has bytes that are no printable ASCII, spaces among them.
  explicit Token(const CredentialOptions& options);

  // Client: sends it with a call.
  void AddTo(grpc::ClientContext& context) const;
  // Server: whether the call carries it. Takes the same time for every wrong one.
  bool Matches(std::string_view authorization) const;
  bool empty() const { return value_.empty(); }

 private:
  std::string value_;
};

// The metadata that carries the token.
inline constexpr char kAuthorizationKey[] = "authorization";

}  // namespace sextant::net
