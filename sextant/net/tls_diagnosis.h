// Why two processes cannot agree on TLS. gRPC only tells that a connection was closed; this asks
// again, with a connection of its own that carries no call.
#pragma once

#include <optional>
#include <string>

#include "sextant/net/credential_options.h"

namespace sextant::net {

// A sentence such as "its certificate is not accepted: certificate has expired". Nothing when
// credentials are not the reason, also when nobody listens at "host:port" any more. Takes no longer
// than about a second.
std::optional<std::string> DiagnoseTls(const std::string& address,
                                       const CredentialOptions& credentials);

}  // namespace sextant::net
