// `sextant serve`: serves models over REST and gRPC, with TensorFlow Serving's flags.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sextant/cli/command.h"

namespace sextant::cli {

void AddServeCommand(Command& program);

// For `sextant train --serve`: a server of the exports below "base_path", until what is returned is
// destroyed.
std::shared_ptr<void> ServeExports(const std::string& model, const std::string& base_path,
                                   int64_t port);

}  // namespace sextant::cli
