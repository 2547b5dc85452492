// What a task says of itself.
#pragma once

#include <chrono>
#include <string>

#include "sextant/net/credential_options.h"
#include "sextant/proto/cluster.pb.h"

namespace sextant::dist {

// "host:port" of "grpc://host:port". Throws INVALID_ARGUMENT.
std::string AddressOfTarget(const std::string& target);

// Throws UNAVAILABLE or UNAUTHENTICATED, saying why, when the task cannot be asked or does not
// answer within that time.
StatusReply AskStatus(const std::string& address, const net::CredentialOptions& credentials,
                      std::chrono::milliseconds time = std::chrono::seconds(5));

}  // namespace sextant::dist
