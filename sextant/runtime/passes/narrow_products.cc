#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sextant/runtime/passes/factor_products.h"
#include "sextant/runtime/passes/product_parts.h"

namespace sextant {
namespace {

// a * transposed(rows [begin, begin + size) of b)
struct PartialProduct {
  Output a, b;
  int64_t begin = 0, size = 0;

  bool SameFactor(const PartialProduct& other) const {
    return b == other.b && begin == other.begin && size == other.size;
  }
};

std::optional<PartialProduct> AsPartialProduct(Output output) {
  const ColumnRange range = PartOf(output).value_or(ColumnRange{output, 0, PartialShape::kUnknown});
  const Node& product = *range.matrix.node();
  if (!IsPlainProduct(product) || product.attr<bool>("transpose_a") ||
      !product.attr<bool>("transpose_b")) {
    return std::nullopt;
  }
  const int64_t size =
      range.size == PartialShape::kUnknown ? product.output_shape(0)[1] : range.size;
  return PartialProduct{product.input(0), product.input(1), range.begin, size};
}

class RowSummer {
 public:
  explicit RowSummer(Graph& graph) : graph_(graph), readers_(CountReaders(graph)), add_(graph) {}

  void Run() {
    const int count = graph_.num_nodes();
    for (int id = 0; id < count; ++id) {
      if (graph_.node(id)->type() == "UnsortedSegmentSum") Consider(graph_.node(id));
    }
  }

 private:
  // The products of which the block, that only one node reads, is the sum; none if it is not.
  std::vector<PartialProduct> TermsOf(Output block) const {
    const Node& node = *block.node();
    if (readers_.at(block) != 1) return {};
    if (const std::optional<PartialProduct> product = AsPartialProduct(block)) return {*product};
    if ((node.type() != "AddN" && node.type() != "AddV2") || !node.control_inputs().empty()) {
      return {};
    }
    std::vector<PartialProduct> terms;
    for (const Output& input : node.inputs()) {
      if (!(input.shape() == block.shape())) return {};
      const std::vector<PartialProduct> more = TermsOf(input);
      if (more.empty()) return {};
      terms.insert(terms.end(), more.begin(), more.end());
    }
    return terms;
  }

  // Whether there are no more sums than rows.
  static bool HasFewSums(const Node& node) {
    const Output ids = node.input(1);
    if (ids.node()->type() == "Unique" && ids.index() == 1) return true;
    const std::optional<int64_t> sums = ConstantInt(node.input(2));
    return sums && *sums <= node.input(0).shape()[0];
  }

  void Consider(Node* node) {
    const Output values = node->input(0);
    if (!values.shape().fully_known() || values.shape().rank() != 2 ||
        node->input(1).shape().rank() != 1 || !HasFewSums(*node) || readers_.at(values) != 1) {
      return;
    }
    // Per factor that the terms of all blocks share: the other factors, block by block.
    std::vector<PartialProduct> factors;
    std::vector<std::vector<Output>> others;
    const std::vector<Output> blocks = RowBlocksOf(values);
    for (const Output& block : blocks) {
      const std::vector<PartialProduct> terms = TermsOf(block);
      if (factors.empty()) {
        factors = terms;
        others.resize(factors.size());
      }
      if (terms.empty() || terms.size() != factors.size()) return;
      for (const PartialProduct& term : terms) {
        const auto same = [&](const PartialProduct& factor) { return factor.SameFactor(term); };
        const size_t i = std::ranges::find_if(factors, same) - factors.begin();
        if (i == factors.size()) return;
        others[i].push_back(term.a);
      }
    }
    const auto complete = [&](const auto& list) { return list.size() == blocks.size(); };
    if (std::ranges::all_of(others, complete)) Rewrite(node, factors, others);
  }

  void Rewrite(Node* node, const std::vector<PartialProduct>& factors,
               const std::vector<std::vector<Output>>& others) {
    add_.For(*node);
    std::vector<NodeSpec> products;
    for (size_t i = 0; i < factors.size(); ++i) {
      const Output sums =
          add_.Add(add_.SumByRow(add_.ConcatRows(others[i]), node->input(1), node->input(2)));
      const Output factor = add_.Rows(factors[i].b, factors[i].begin, factors[i].size);
      products.push_back(add_.MatMul(sums, factor, false, true));
    }
    NodeSpec spec = std::move(products[0]);
    if (products.size() > 1) {
      std::vector<Output> values(1, add_.Add(std::move(spec)));
      for (size_t i = 1; i < products.size(); ++i) {
        values.push_back(add_.Add(std::move(products[i])));
      }
      spec = add_.Sum(values);
    }
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    graph_.Replace(node, std::move(spec));
  }

  Graph& graph_;
  const std::unordered_map<Output, int> readers_;
  NodeAdder add_;
};

}  // namespace

void SumRowsFirst(Graph& graph, const Device&) {
  if (HasNodeOf(graph, "UnsortedSegmentSum") && HasNodeOf(graph, "MatMul")) RowSummer(graph).Run();
}

void NarrowProducts(Graph& graph, const Device&) {
  if (!HasNodeOf(graph, "MatMul")) return;
  const std::unordered_map<Output, int> readers = CountReaders(graph);
  std::unordered_map<const Node*, std::vector<Output>> parts_of;  // that are read, by product
  for (const auto& [output, count] : readers) {
    const std::optional<ColumnRange> part = PartOf(output);
    if (!part || !AsPartialProduct(output)) continue;
    parts_of[part->matrix.node()].push_back(output);
  }
  std::unordered_map<Output, Output> moved;
  NodeAdder add(graph);
  const int count = graph.num_nodes();
  for (int id = 0; id < count; ++id) {
    const auto parts = parts_of.find(graph.node(id));
    if (parts == parts_of.end() || parts->second.size() != 1) continue;
    const Output part = parts->second[0];
    if (readers.at(graph.node(id)->output(0)) != 1) continue;
    const PartialProduct product = *AsPartialProduct(part);
    add.For(*part.node());
    const Output rows = add.Rows(product.b, product.begin, product.size);
    moved[part] = add.Add(add.MatMul(product.a, rows, false, true));
  }
  if (!moved.empty()) MoveReaders(graph, moved);
}

}  // namespace sextant
