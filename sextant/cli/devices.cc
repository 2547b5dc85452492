#include "sextant/cli/devices.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwy/targets.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "sextant/device/device.h"

namespace sextant::cli {
namespace {

std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// The limit of the container, if there is one.
uint64_t ContainerMemory() {
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(path);
    uint64_t bytes = 0;
    if (file >> bytes && bytes > 0) return bytes;
  }
  return UINT64_MAX;
}

std::vector<std::string> InstructionSets() {
  std::vector<std::string> names;
  const int64_t supported = hwy::SupportedTargets() & HWY_TARGETS;
  for (int64_t bits = supported; bits != 0; bits &= bits - 1) {
    const int64_t target = bits & -bits;
    if (target != HWY_EMU128 && target != HWY_SCALAR) names.emplace_back(hwy::TargetName(target));
  }
  return names;
}

std::string Gigabytes(uint64_t bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

}  // namespace

HostInfo GetHostInfo() {
  HostInfo info;
  info.processor = ProcessorName();
  info.cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t limit = ContainerMemory();
  info.memory = std::min(limit, page * static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)));
  info.memory_available = std::min(limit, page * static_cast<uint64_t>(sysconf(_SC_AVPHYS_PAGES)));
  info.instruction_sets = InstructionSets();
  return info;
}

void ListDevices(bool json, std::ostream& out) {
  const HostInfo host = GetHostInfo();
  nlohmann::ordered_json devices = nlohmann::json::array();
  for (const auto& device : MakeHostDevices(1)) {
    if (json) {
      devices.push_back({{"name", device->name()},
                         {"type", device->type()},
                         {"processor", host.processor},
                         {"cores", host.cores},
                         {"memory_bytes", host.memory},
                         {"memory_available_bytes", host.memory_available},
                         {"instruction_sets", host.instruction_sets}});
      continue;
    }
    out << fmt::format(
        "{}\n  processor:        {}\n  cores:            {}\n"
        "  memory:           {}, {} free\n  instruction sets: {}\n",
        device->name(), host.processor, host.cores, Gigabytes(host.memory),
        Gigabytes(host.memory_available), fmt::join(host.instruction_sets, ", "));
  }
  if (json) out << nlohmann::ordered_json{{"devices", devices}}.dump(2) << "\n";
}

void AddDevicesCommand(Command& program) {
  auto json = std::make_shared<bool>(false);
  Command& command = program.AddCommand(
      "devices", "Lists the devices: name, cores, memory, instruction sets.", "sextant devices");
  command.AddFlag("--json", json.get(), "for scripts: one JSON object");
  command.OnRun([json] {
    ListDevices(*json, std::cout);
    return 0;
  });
}

}  // namespace sextant::cli
