// The commands of `sextant-net`, with the descriptions that both programs show.
#pragma once

#include <vector>

namespace sextant::cli {

struct NetCommand {
  const char* name;
  const char* description;
};

inline const std::vector<NetCommand> kNetCommands = {};

}  // namespace sextant::cli
