// OpenLoop: requests at the times of a Poisson process, sent by one thread over many connections. A
// thread for each of them, as a closed loop has, would take the processors from the server that it
// measures.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::bench {

struct OpenLoopOptions {
  double rate = 0;  // a second
  double seconds = 1;
  int connections = 128;
  uint64_t seed = 1;
};

struct OpenLoopReport {
  std::vector<double> due_ms,
      sent_ms;          // of answers 200, sorted: since they were due, since they were sent
  int64_t refused = 0;  // answers 503
  double seconds = 0;

  double goodput() const { return static_cast<double>(sent_ms.size()) / seconds; }
};

// What is due while all connections wait is sent when one is free; what is left at the end is not
// sent at all. Throws UNAVAILABLE where a connection fails, and what other answers say.
OpenLoopReport RunOpenLoop(int port, const std::string& request, const OpenLoopOptions& options);

double PercentileOf(const std::vector<double>& sorted, double share);

}  // namespace sextant::bench
