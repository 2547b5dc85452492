#include "boilerplate/logger/machine.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

extern char** environ;

namespace boilerplate {
namespace {

// The text behind "key … :" in a file of such lines; "" when there is none.
std::string Field(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const size_t text = line.find_first_not_of(" \t", colon + 1);
    return text == std::string::npos ? "" : line.substr(text);
  }
  return "";
}

}  // namespace

Machine ThisMachine() {
  constexpr int64_t kKilobyte = 1024;
  return {
      .num_cores = std::thread::hardware_concurrency(),
      .cpu = Field("/proc/cpuinfo", "model name"),
      .mhz_per_cpu = std::strtod(Field("/proc/cpuinfo", "cpu MHz").c_str(), nullptr),
      .memory_total =
          std::strtoll(Field("/proc/meminfo", "MemTotal").c_str(), nullptr, 10) * kKilobyte,
      .memory_available =
          std::strtoll(Field("/proc/meminfo", "MemAvailable").c_str(), nullptr, 10) * kKilobyte};
}

std::map<std::string, std::string> EnvironmentWith(const std::string& prefix) {
  std::map<std::string, std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const size_t equals = text.find('=');
    if (text.starts_with(prefix) && equals != std::string::npos) {
      found[text.substr(0, equals)] = text.substr(equals + 1);
    }
  }
  return found;
}

}  // namespace boilerplate
