#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "sextant/runtime/passes/factor_products.h"
#include "sextant/runtime/passes/product_parts.h"

namespace sextant {
namespace {

// Gathering or adding up rows costs as much as multiplying them by so few columns.
constexpr int64_t kMinColumns = 16;

// Rows of a table that stand in columns [begin, begin + size) of a matrix.
struct GatheredPart {
  Output table, ids;
  int64_t begin = 0, size = 0;
};

// A product whose first matrix, transposed or not, has gathered parts.
struct Candidate {
  Node* product = nullptr;
  std::vector<GatheredPart> gathered;
  std::vector<Output> rest;  // what the other columns are: side by side, from rest_begin on
  int64_t rest_begin = 0, rest_size = 0;

  int64_t rows() const { return gathered[0].ids.shape()[0]; }
};

std::optional<GatheredPart> AsGathered(const ColumnRange& columns) {
  const Node& node = *columns.matrix.node();
  if (node.type() != "GatherV2" || !node.control_inputs().empty() || columns.size < kMinColumns ||
      node.attr<int64_t>("batch_dims") != 0 || ConstantInt(node.input(2)) != 0 ||
      node.input(1).shape().rank() != 1 || !node.input(0).shape().fully_known()) {
    return std::nullopt;
  }
  return GatheredPart{node.input(0), node.input(1), columns.begin, columns.size};
}

std::optional<Candidate> AsCandidate(Node* node) {
  if (!IsPlainProduct(*node) || node->attr<bool>("transpose_b") ||
      node->output_shape(0)[1] < kMinColumns) {
    return std::nullopt;
  }
  Candidate candidate{.product = node};
  for (const ColumnRange& columns : ColumnsOf(node->input(0))) {
    if (const std::optional<GatheredPart> part = AsGathered(columns)) {
      candidate.gathered.push_back(*part);
      continue;
    }
    if (candidate.rest.empty()) candidate.rest_begin = columns.begin;
    if (columns.begin != candidate.rest_begin + candidate.rest_size) return std::nullopt;
    candidate.rest.push_back(columns.matrix);
    candidate.rest_size += columns.size;
  }
  if (candidate.gathered.empty()) return std::nullopt;
  return candidate;
}

// The same columns are gathered of the same tables.
bool SameParts(const Candidate& a, const Candidate& b) {
  const auto same = [](const GatheredPart& x, const GatheredPart& y) {
    return x.table == y.table && x.begin == y.begin && x.size == y.size;
  };
  return std::ranges::equal(a.gathered, b.gathered, same) &&
         a.product->output_shape(0) == b.product->output_shape(0);
}

class TableMultiplier {
 public:
  explicit TableMultiplier(Graph& graph)
      : graph_(graph), readers_(CountReaders(graph)), add_(graph) {}

  void Run() {
    const int count = graph_.num_nodes();
    std::vector<Candidate> products;
    std::vector<std::pair<Node*, std::vector<Candidate>>> sums;
    for (int id = 0; id < count; ++id) {
      Node* node = graph_.node(id);
      if (node->type() == "AddN") {
        sums.emplace_back(node, AsSum(*node));
        for (const Candidate& term : sums.back().second) terms_.insert(term.product);
      } else if (const std::optional<Candidate> candidate = AsCandidate(node)) {
        if (node->attr<bool>("transpose_a")) {
          sums.emplace_back(node, std::vector{*candidate});
        } else {
          products.push_back(*candidate);
        }
      }
    }
    KeepWorthwhile(&products);
    for (const Candidate& product : products) Rewrite(product);
    for (const auto& [sum, terms] : sums) {
      if (!terms_.contains(sum) && IsWorthwhile(terms)) RewriteSum(sum, terms);
    }
  }

 private:
  // ---- transposed(a) * b, and sums of such

  std::vector<Candidate> AsSum(const Node& sum) const {
    std::vector<Candidate> terms;
    for (const Output& input : sum.inputs()) {
      std::optional<Candidate> term = AsCandidate(input.node());
      if (!term || !input.node()->attr<bool>("transpose_a") || readers_.at(input) != 1 ||
          (!terms.empty() && !SameParts(terms[0], *term))) {
        return {};
      }
      terms.push_back(std::move(*term));
    }
    return terms;
  }

  // Only ids of rewritten products are added up by: those are checked where they gather.
  bool IsWorthwhile(const std::vector<Candidate>& terms) const {
    int64_t rows = 0;
    for (const Candidate& term : terms) {
      rows += term.rows();
      for (const GatheredPart& part : term.gathered) {
        if (!checked_ids_.contains(part.ids)) return false;
      }
    }
    return !terms.empty() && std::ranges::all_of(terms[0].gathered, [&](const GatheredPart& part) {
      return rows >= kMinTableUses * part.table.shape()[0];
    });
  }

  // Every part of the first matrix gives some rows of the result.
  void RewriteSum(Node* sum, const std::vector<Candidate>& terms) {
    add_.For(*sum);
    std::map<int64_t, Output> parts;  // by first row
    for (size_t i = 0; i < terms[0].gathered.size(); ++i) {
      const GatheredPart& part = terms[0].gathered[i];
      std::vector<Output> values, ids;
      for (const Candidate& term : terms) {
        values.push_back(term.product->input(1));
        ids.push_back(term.gathered[i].ids);
      }
      const Output sums = add_.Add(add_.SumByRow(add_.ConcatRows(values), add_.ConcatRows(ids),
                                                 add_.ConstInt(part.table.shape()[0])));
      parts[part.begin] = add_.Add(add_.MatMul(part.table, sums, true, false));
    }
    if (!terms[0].rest.empty()) {
      std::vector<Output> products;
      for (const Candidate& term : terms) {
        products.push_back(add_.Add(add_.MatMul(Rest(term), term.product->input(1), true, false)));
      }
      parts[terms[0].rest_begin] =
          products.size() == 1 ? products[0] : add_.Add(add_.Sum(products));
    }
    std::vector<Output> rows;
    for (const auto& [begin, part] : parts) rows.push_back(part);
    NodeSpec spec = rows.size() > 1 ? add_.Concat(rows, 0)
                                    : add_.Spec("Identity", rows, {{"T", rows[0].dtype()}});
    spec.control_inputs.assign(sum->control_inputs().begin(), sum->control_inputs().end());
    graph_.Replace(sum, std::move(spec));
  }

  // ---- a * b

  // Those of whose multiplied tables enough rows are gathered.
  static void KeepWorthwhile(std::vector<Candidate>* products) {
    using Factors = std::tuple<int, int, int, int, int64_t>;
    std::map<Factors, int64_t> gathered;
    const auto rows_of = [&](const Candidate& c, const GatheredPart& part) -> int64_t& {
      const Output b = c.product->input(1);
      return gathered[{part.table.node()->id(), part.table.index(), b.node()->id(), b.index(),
                       part.begin}];
    };
    for (const Candidate& c : *products) {
      for (const GatheredPart& part : c.gathered) rows_of(c, part) += c.rows();
    }
    std::erase_if(*products, [&](const Candidate& c) {
      return std::ranges::any_of(c.gathered, [&](const GatheredPart& part) {
        return rows_of(c, part) < kMinTableUses * part.table.shape()[0];
      });
    });
  }

  void Rewrite(const Candidate& candidate) {
    Node* node = candidate.product;
    const Output b = node->input(1);
    add_.For(*node);
    std::vector<NodeSpec> terms;
    for (const GatheredPart& part : candidate.gathered) {
      terms.push_back(add_.Gather(Multiplied(part, b), part.ids));
      checked_ids_.insert(part.ids);
    }
    if (!candidate.rest.empty()) {
      const Output rows = add_.Rows(b, candidate.rest_begin, candidate.rest_size);
      terms.push_back(add_.MatMul(Rest(candidate), rows, false, false));
    }
    if (terms.size() == 1) return graph_.Replace(node, std::move(terms[0]));
    std::vector<Output> values;
    for (NodeSpec& term : terms) values.push_back(add_.Add(std::move(term)));
    graph_.Replace(node, add_.Sum(values));
  }

  Output Multiplied(const GatheredPart& part, Output b) {
    const Output rows = add_.Rows(b, part.begin, part.size);
    Output& product =
        multiplied_[{part.table.node()->id(), part.table.index(), rows.node()->id(), rows.index()}];
    if (!product) product = add_.Add(add_.MatMul(part.table, rows, false, false));
    return product;
  }

  Output Rest(const Candidate& candidate) {
    return candidate.rest.size() == 1 ? candidate.rest[0]
                                      : add_.Add(add_.Concat(candidate.rest, 1));
  }

  Graph& graph_;
  const std::unordered_map<Output, int> readers_;
  NodeAdder add_;
  std::unordered_set<const Node*> terms_;  // of sums
  std::unordered_set<Output> checked_ids_;
  std::map<std::tuple<int, int, int, int>, Output> multiplied_;
};

}  // namespace

void MultiplyTables(Graph& graph, const Device&) {
  if (HasNodeOf(graph, "GatherV2") && HasNodeOf(graph, "MatMul")) TableMultiplier(graph).Run();
}

}  // namespace sextant
