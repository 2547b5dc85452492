#include "benchmarks/steps.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "benchmarks/op_profile.h"

namespace sextant::bench {
namespace {

constexpr int kTracedSteps = 10;

// Of this process, in MB.
double PeakMemory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

void Profile(const Options& options, const StepFunction& step) {
  for (int i = 0; i < std::max(1, options.warmup); ++i) step({});
  OpProfile profile;
  for (int i = 0; i < kTracedSteps; ++i) {
    StepTrace trace;
    RunOptions run;
    run.trace = &trace;
    const int64_t start = StepTrace::Now();
    step(run);
    profile.Add(trace, StepTrace::Now() - start);
  }
  profile.Print();
}

}  // namespace

void MeasureSteps(const StepReport& report, const Options& options, const StepFunction& step,
                  const std::function<Extra()>& extra) {
  if (options.profile) return Profile(options, step);
  int64_t steps = 0;
  std::vector<double> rates = Repeat(
      [&] {
        step({});
        ++steps;
      },
      options);
  for (double& rate : rates) rate *= report.per_step;
  Extra keys = {{"batch", std::to_string(report.batch)},
                {"mode", Quote(report.mode)},
                {"threads", std::to_string(options.threads)},
                {"steps", std::to_string(steps)},
                {"rss_mb", fmt::format("{:.1f}", PeakMemory())}};
  if (extra) std::ranges::copy(extra(), std::back_inserter(keys));
  Emit(report.workload, report.metric, std::move(rates), false, keys);
}

}  // namespace sextant::bench
