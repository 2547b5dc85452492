#include "sextant/cli/train/metrics_table.h"

#include <fmt/ostream.h>

#include <algorithm>

namespace sextant::cli {

void PrintMetrics(const EvalResult& metrics, std::ostream& out) {
  size_t width = 0;
  for (const auto& [name, value] : metrics) width = std::max(width, name.size());
  for (const auto& [name, value] : metrics) {
    if (name != "global_step") fmt::print(out, "  {:<{}}  {:.6g}\n", name, width, value);
  }
}

}  // namespace sextant::cli
