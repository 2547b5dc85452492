// The token of a cluster: a secret that all its processes hold, sent with every call. Nothing here
// logs or prints it.
#pragma once

#include <string>
#include <string_view>

#include "sextant/net/credential_options.h"

namespace grpc {
class ClientContext;
}

namespace sextant::net {

// Throws INVALID_ARGUMENT, naming the source, for a token that cannot be sent: gRPC ends the
// process for bytes that are not printable ASCII, and the other side refuses a long one.
void CheckToken(std::string_view token, std::string_view source);

// Read once; "" where none is asked for.
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
