// The commands of `sextant-net`, with the descriptions that both programs show.
#pragma once

#include <vector>

namespace sextant::cli {

struct NetCommand {
  const char* name;
  const char* description;
};

inline constexpr NetCommand kServe = {
    "serve", "Serves models over REST and gRPC, as TensorFlow Serving does."};

inline const std::vector<NetCommand> kNetCommands = {kServe};

}  // namespace sextant::cli
