// fault-proxy PORT: a FaultProxy (sextant/testing/fault_proxy.h) in front of a port of this
// machine, for scenarios. Prints the port that it listens at; then each line of the input is a
// command, answered by a line with what has gone through. It ends with its input.
//
//   set delay=50 rate=12500000 lost=0.05 stall=1 refuse=1 hole=server    (or hole=client)
//   cut server 1000     resets the connection that carries the byte so many further to the server
//   reset               resets all connections
#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>

#include "sextant/testing/fault_proxy.h"

namespace {

using sextant::FaultProxy;

FaultProxy::Way WayOf(const std::string& name) {
  return name == "server" ? FaultProxy::Way::kToServer : FaultProxy::Way::kToClient;
}

FaultProxy::Faults ParseFaults(std::istream& words) {
  FaultProxy::Faults faults;
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    const std::string value = word.substr(word.find('=') + 1);
    if (name == "delay") faults.delay = std::chrono::milliseconds(std::stoll(value));
    if (name == "rate") faults.bytes_per_second = std::stoll(value);
    if (name == "lost") faults.lost = std::stod(value);
    if (name == "stall") faults.stall = true;
    if (name == "refuse") faults.refuse = true;
    if (name == "hole") faults.black_hole = WayOf(value);
  }
  return faults;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: fault-proxy PORT\n");
    return 2;
  }
  FaultProxy proxy(std::stoi(argv[1]));
  std::cout << proxy.port() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, way;
    int64_t bytes = 0;
    words >> command;
    if (command == "set") proxy.Set(ParseFaults(words));
    if (command == "cut" && words >> way >> bytes) proxy.CutAfter(WayOf(way), bytes);
    if (command == "reset") proxy.Reset();
    std::cout << fmt::format(
                     "{{\"cuts\": {}, \"connections\": {}, \"to_server\": {}, \"to_client\": {}}}",
                     proxy.cuts(), proxy.connections(), proxy.bytes(FaultProxy::Way::kToServer),
                     proxy.bytes(FaultProxy::Way::kToClient))
              << std::endl;
  }
  return 0;
}
