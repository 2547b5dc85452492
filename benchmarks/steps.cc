#include "benchmarks/steps.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <map>

namespace sextant::bench {
namespace {

constexpr int kTracedSteps = 10;
constexpr size_t kRows = 25;

struct Kind {
  std::string op;
  double milliseconds = 0;
  int count = 0;
};

// Of this process, in MB.
double PeakMemory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// Moves an image from one layout to another.
bool IsReorder(const std::string& op) { return op == "_ToBlocked" || op == "_FromBlocked"; }

void Profile(const Options& options, const StepFunction& step) {
  for (int i = 0; i < std::max(1, options.warmup); ++i) step({});
  std::map<std::string, Kind> kinds;
  int64_t wall = 0;
  double total = 0;
  int nodes = 0;
  for (int i = 0; i < kTracedSteps; ++i) {
    StepTrace trace;
    RunOptions run;
    run.trace = &trace;
    const int64_t start = StepTrace::Now();
    step(run);
    wall += StepTrace::Now() - start;
    for (const StepTrace::Event& event : trace.events()) {
      Kind& kind = kinds[event.op];
      const double milliseconds = static_cast<double>(event.end_ns - event.start_ns) * 1e-6;
      kind.op = event.op;
      kind.milliseconds += milliseconds;
      ++kind.count;
      total += milliseconds;
      ++nodes;
    }
  }
  std::vector<Kind> rows;
  double reorders = 0;
  for (const auto& [op, kind] : kinds) {
    rows.push_back(kind);
    if (IsReorder(op)) reorders += kind.milliseconds;
  }
  std::ranges::sort(rows, std::greater(), &Kind::milliseconds);
  fmt::print(stderr, "traced step {:.3f} ms; nodes: {:.3f} ms in {}; reorders {:.1f} %\n",
             static_cast<double>(wall) * 1e-6 / kTracedSteps, total / kTracedSteps,
             nodes / kTracedSteps, 100 * reorders / total);
  for (size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
    fmt::print(stderr, "{:9.3f} ms {:5.1f}% {:5} nodes  {}\n", rows[i].milliseconds / kTracedSteps,
               100 * rows[i].milliseconds / total, rows[i].count / kTracedSteps, rows[i].op);
  }
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
