// What the machine is: for the record of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace boilerplate {

struct Machine {
  int64_t num_cores = 0;
  std::string cpu;                                 // "" where it is not known
  double mhz_per_cpu = 0;                          // 0 where it is not known
  int64_t memory_total = 0, memory_available = 0;  // bytes
};
Machine ThisMachine();

// Environment variables whose names begin with this.
std::map<std::string, std::string> EnvironmentWith(const std::string& prefix);

}  // namespace boilerplate
