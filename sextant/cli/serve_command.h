// `sextant serve`: serves models over REST and gRPC, with TensorFlow Serving's flags.
#pragma once

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddServeCommand(Command& program);

}  // namespace sextant::cli
