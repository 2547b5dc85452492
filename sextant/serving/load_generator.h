// Load on a server, as many independent clients make it: requests are due at times that do not
// depend on the answers (open loop), so that a server that falls behind shows it. A request's
// latency counts from when it was due.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sextant/base/error.h"

namespace sextant::serving {

struct LoadOptions {
  double rate = 100;    // requests a second
  bool poisson = true;  // random gaps; else equal ones
  std::chrono::milliseconds duration{10000};
  int clients = 16;  // connections: requests that are due while all are busy wait for one
  uint64_t seed = 1;
  std::chrono::nanoseconds target{0};  // answers later than this are not good; 0: all are
};

struct LoadReport {
  int64_t requests = 0, good = 0;         // good: answered without error and in time
  std::map<std::string, int64_t> errors;  // by code
  double seconds = 0;
  std::vector<double> milliseconds;  // of answers without error, sorted

  double rate() const { return static_cast<double>(requests) / seconds; }
  double goodput() const { return static_cast<double>(good) / seconds; }
  // 0 <= share <= 1; 0 without answers.
  double Percentile(double share) const;
};

// A client sends one request and throws what went wrong. "make_client" is called once per client,
// on its thread.
using LoadClient = std::function<void()>;
LoadReport GenerateLoad(const LoadOptions& options, const std::function<LoadClient()>& make_client);

// The highest rate, by doubling and then halving the interval, at which at least 99 % of requests
// are good.
double FindCapacity(LoadOptions options, const std::function<LoadClient()>& make_client);

}  // namespace sextant::serving
