#include "sextant/serving/load_generator.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

namespace sextant::serving {
namespace {

using LoadClock = std::chrono::steady_clock;

// When requests are due, in nanoseconds from the start.
std::vector<int64_t> DueTimes(const LoadOptions& options) {
  std::vector<int64_t> times;
  const double end = std::chrono::duration<double>(options.duration).count();
  // A 64-bit linear congruential generator (Knuth's MMIX): gaps need no better one.
  uint64_t state = options.seed;
  double at = 0;
  for (;;) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double uniform = (static_cast<double>(state >> 11) + 0.5) / 9007199254740992.0;
    at += options.poisson ? -std::log(uniform) / options.rate : 1 / options.rate;
    if (at >= end) return times;
    times.push_back(static_cast<int64_t>(at * 1e9));
  }
}

}  // namespace

double LoadReport::Percentile(double share) const {
  if (milliseconds.empty()) return 0;
  const auto at = static_cast<size_t>(share * static_cast<double>(milliseconds.size()));
  return milliseconds[std::min(at, milliseconds.size() - 1)];
}

LoadReport GenerateLoad(const LoadOptions& options,
                        const std::function<LoadClient()>& make_client) {
  if (!(options.rate > 0)) throw InvalidArgument("the rate must be above 0");
  const std::vector<int64_t> due = DueTimes(options);
  std::atomic<size_t> next{0};
  std::mutex mutex;
  LoadReport report;
  report.requests = static_cast<int64_t>(due.size());
  const auto start = LoadClock::now() + std::chrono::milliseconds(20);
  const auto work = [&] {
    std::vector<double> times;
    std::map<std::string, int64_t> errors;
    int64_t good = 0;
    LoadClient send;
    for (size_t i = next++; i < due.size(); i = next++) {
      const auto begin = start + std::chrono::nanoseconds(due[i]);
      std::this_thread::sleep_until(begin);
      try {
        if (!send) send = make_client();
        send();
        const auto time = LoadClock::now() - begin;
        times.push_back(std::chrono::duration<double, std::milli>(time).count());
        if (options.target.count() == 0 || time <= options.target) ++good;
      } catch (const Error& error) {
        ++errors[std::string(CodeName(error.code()))];
      }
    }
    const std::lock_guard lock(mutex);
    report.good += good;
    for (const auto& [code, count] : errors) report.errors[code] += count;
    report.milliseconds.insert(report.milliseconds.end(), times.begin(), times.end());
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < options.clients; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  report.seconds = std::chrono::duration<double>(
                       std::max<LoadClock::duration>(LoadClock::now() - start, options.duration))
                       .count();
  std::ranges::sort(report.milliseconds);
  return report;
}

double FindCapacity(LoadOptions options, const std::function<LoadClient()>& make_client) {
  const auto holds = [&](double rate) {
    options.rate = rate;
    const LoadReport report = GenerateLoad(options, make_client);
    return report.good * 100 >= report.requests * 99 &&
           report.seconds < 1.1 * std::chrono::duration<double>(options.duration).count();
  };
  double low = 0, high = options.rate;
  while (holds(high) && high < 1e7) {
    low = high;
    high *= 2;
  }
  for (int i = 0; i < 4; ++i) {
    const double middle = (low + high) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace sextant::serving
