#include "benchmarks/op_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sextant::bench {
namespace {

constexpr size_t kRows = 25;

// Moves an image from one layout to another.
bool IsReorder(const std::string& op) { return op == "_ToBlocked" || op == "_FromBlocked"; }

}  // namespace

void OpProfile::Add(const StepTrace& trace, int64_t wall) {
  ++steps_;
  wall_ += wall;
  for (const StepTrace::Event& event : trace.events()) {
    Kind& kind = kinds_[event.op];
    kind.op = event.op;
    kind.milliseconds += static_cast<double>(event.end_ns - event.start_ns) * 1e-6;
    ++kind.count;
  }
}

void OpProfile::Print() const {
  if (steps_ == 0) return;
  std::vector<Kind> rows;
  double total = 0, reorders = 0;
  int nodes = 0;
  for (const auto& [op, kind] : kinds_) {
    rows.push_back(kind);
    total += kind.milliseconds;
    nodes += kind.count;
    if (IsReorder(op)) reorders += kind.milliseconds;
  }
  std::ranges::sort(rows, std::greater(), &Kind::milliseconds);
  fmt::print(stderr, "traced step {:.3f} ms; nodes: {:.3f} ms in {}; reorders {:.1f} %\n",
             static_cast<double>(wall_) * 1e-6 / steps_, total / steps_, nodes / steps_,
             100 * reorders / total);
  for (size_t i = 0; i < std::min(rows.size(), kRows); ++i) {
    fmt::print(stderr, "{:9.3f} ms {:5.1f}% {:5} nodes  {}\n", rows[i].milliseconds / steps_,
               100 * rows[i].milliseconds / total, rows[i].count / steps_, rows[i].op);
  }
}

}  // namespace sextant::bench
