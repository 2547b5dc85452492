// `sextant devices`: what there is to compute with.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "sextant/cli/command.h"

namespace sextant::cli {

struct HostInfo {
  std::string processor;                      // as the processor names itself
  int cores = 0;                              // that this process may use
  uint64_t memory = 0;                        // bytes that this process may use
  uint64_t memory_available = 0;              // of them free at the moment
  std::vector<std::string> instruction_sets;  // those that kernels choose by, e.g. "AVX2"
};

HostInfo GetHostInfo();

// One line per device and what is behind it; with `json`, {"devices": [{"name", "type", ...}]}.
void ListDevices(bool json, std::ostream& out);

void AddDevicesCommand(Command& program);

}  // namespace sextant::cli
