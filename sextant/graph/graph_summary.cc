// Graph::Summary: a graph described to people.
#include <algorithm>
#include <map>

#include "sextant/graph/graph.h"
#include "sextant/graph/variable_node.h"

namespace sextant {
namespace {

constexpr size_t kMaxListed = 20;

std::string Megabytes(size_t bytes) {
  if (bytes < 10'000) return fmt::format("{} bytes", bytes);
  return bytes < 10'000'000 ? fmt::format("{} kB", bytes / 1000)
                            : fmt::format("{} MB", bytes / 1'000'000);
}

std::string DescribeVariable(const Node& node) {
  return fmt::format("{}: {}{}", node.name(), DTypeName(node.attr<DType>("dtype")),
                     node.attr<PartialShape>("shape").ToString());
}

// "heading (7):" and a line for each, as long as they are few.
void List(std::string_view heading, const std::vector<std::string>& lines, std::string* text) {
  if (lines.empty()) return;
  *text += fmt::format("{} ({}):\n", heading, lines.size());
  for (size_t i = 0; i < std::min(lines.size(), kMaxListed); ++i) *text += "  " + lines[i] + "\n";
  if (lines.size() > kMaxListed) *text += fmt::format("  ... {} more\n", lines.size() - kMaxListed);
}

}  // namespace

std::string Graph::Summary() const {
  std::map<std::string, int> ops;
  std::vector<std::string> placeholders, variables, functions, unknown;
  std::vector<std::pair<size_t, const Node*>> constants;
  size_t constant_bytes = 0;
  for (const auto& node : nodes_) {
    ++ops[node->type()];
    if (node->op().unknown()) {
      unknown.push_back(fmt::format("{} ({})", node->name(), node->type()));
    } else if (node->type() == "Placeholder") {
      placeholders.push_back(fmt::format("{}: {}{}", node->name(), DTypeName(node->output_type(0)),
                                         node->output_shape(0).ToString()));
    } else if (IsVariable(*node)) {
      variables.push_back(DescribeVariable(*node));
    } else if (node->type() == "Const") {
      constants.emplace_back(node->attr<Tensor>("value").bytes(), node.get());
      constant_bytes += constants.back().first;
    }
  }
  for (const auto& function : functions_.all()) {
    functions.push_back(fmt::format("{}: {} inputs, {} outputs", function->name(),
                                    function->signature().inputs().size(),
                                    function->signature().outputs().size()));
  }

  std::string text =
      fmt::format("{} nodes, {} kinds of op, {} constants of {} in all\n", num_nodes(), ops.size(),
                  constants.size(), Megabytes(constant_bytes));
  std::vector<std::pair<std::string, int>> counts(ops.begin(), ops.end());
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> count_lines, constant_lines;
  for (const auto& [op, count] : counts) count_lines.push_back(fmt::format("{} {}", count, op));
  std::stable_sort(constants.begin(), constants.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (size_t i = 0; i < std::min<size_t>(constants.size(), 5); ++i) {
    const Tensor& value = constants[i].second->attr<Tensor>("value");
    constant_lines.push_back(fmt::format("{}: {}, {}", constants[i].second->name(),
                                         value.Describe(), Megabytes(constants[i].first)));
  }
  List("ops", count_lines, &text);
  List("placeholders", placeholders, &text);
  List("variables", variables, &text);
  List("functions", functions, &text);
  List("ops that are not registered", unknown, &text);
  List("largest constants", constant_lines, &text);
  return text;
}

}  // namespace sextant
