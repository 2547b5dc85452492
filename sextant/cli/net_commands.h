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
inline constexpr NetCommand kServer = {"server", "Runs a task of a cluster."};
inline constexpr NetCommand kStatus = {"status", "Says what a task of a cluster is doing."};

inline constexpr NetCommand kLoad = {
    "load", "Sends requests at a given rate, and tells how they are answered."};

inline const std::vector<NetCommand> kNetCommands = {kLoad, kServe, kServer, kStatus};

}  // namespace sextant::cli
