#include "benchmarks/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace sextant::bench {

std::vector<double> Repeat(const std::function<void()>& step, const Options& options) {
  using Clock = std::chrono::steady_clock;
  for (int i = 0; i < std::max(1, options.warmup); ++i) step();
  std::vector<double> rates;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    const auto start = Clock::now();
    int64_t count = 0, batch = 1;
    double elapsed = 0;
    // The clock is read between batches that grow, so that reading it does not count.
    while (elapsed < options.seconds) {
      for (int64_t i = 0; i < batch; ++i) step();
      count += batch;
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
      if (elapsed < options.seconds / 10) batch *= 2;
    }
    rates.push_back(static_cast<double>(count) / elapsed);
  }
  return rates;
}

std::string Quote(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

void Emit(const std::string& workload, const std::string& metric, std::vector<double> values,
          bool lower_is_better, const Extra& extra) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  const double median = n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  std::string line = fmt::format(
      R"({{"workload": "{}", "peer": "sextant {}", "metric": "{}", "value": {:.5g}, "best": {:.5g}, "repeats": {})",
      workload, SEXTANT_VERSION, metric, median, lower_is_better ? values.front() : values.back(),
      n);
  for (const auto& [key, value] : extra) line += fmt::format(", \"{}\": {}", key, value);
  fmt::print("{}}}\n", line);
  std::fflush(stdout);
}

}  // namespace sextant::bench
