// The options of commands that connect to other processes: TLS and the token.
#pragma once

#include "sextant/cli/command.h"
#include "sextant/net/credential_options.h"

namespace sextant::cli {

// What the environment says is the default (net/README.md).
void AddCredentialArguments(Command& command, net::CredentialOptions* credentials);

}  // namespace sextant::cli
