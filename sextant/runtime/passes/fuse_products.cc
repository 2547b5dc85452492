// The gradient of a matrix that is used several times is a sum of products of equal sizes.
#include <algorithm>
#include <unordered_map>

#include "sextant/device/device.h"
#include "sextant/runtime/passes/pass.h"
#include "sextant/runtime/passes/product_parts.h"

namespace sextant {
namespace {

// A product whose second matrix lies by rows and that is computed in place.
bool Suits(const Node& node, const Device& device) {
  if (!IsPlainProduct(node) || node.output_type(0) != DType::kFloat ||
      node.attr<bool>("transpose_b")) {
    return false;
  }
  const PartialShape& result = node.output_shape(0);
  const int64_t depth = node.input(1).shape()[0], cols = result[1];
  return device.SumsProducts(result[0], cols, depth);
}

bool SameKind(const Node& a, const Node& b) {
  return a.attr<bool>("transpose_a") == b.attr<bool>("transpose_a") && a.device() == b.device() &&
         a.input(0).shape() == b.input(0).shape() && a.input(1).shape() == b.input(1).shape();
}

void Rewrite(Graph& graph, Node* sum) {
  NodeSpec spec;
  spec.op = graph.FindOp("_ProductSum");
  for (int side = 0; side < 2; ++side) {
    for (const Output& product : sum->inputs()) spec.inputs.push_back(product.node()->input(side));
  }
  spec.control_inputs.assign(sum->control_inputs().begin(), sum->control_inputs().end());
  SetAttr(spec.attrs, "N", static_cast<int64_t>(sum->num_inputs()));
  SetAttr(spec.attrs, "T", DType::kFloat);
  SetAttr(spec.attrs, "transpose_a", sum->input(0).node()->attr<bool>("transpose_a"));
  graph.Replace(sum, std::move(spec));
}

}  // namespace

void FuseProducts(Graph& graph, const Device& device) {
  if (graph.FindOp("_ProductSum") == nullptr || !HasNodeOf(graph, "MatMul")) return;
  const std::unordered_map<Output, int> readers = CountReaders(graph);
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* sum = graph.node(id);
    if (sum->type() != "AddN" || sum->num_inputs() < 2) continue;
    const Node& first = *sum->input(0).node();
    const bool suits = std::ranges::all_of(sum->inputs(), [&](const Output& input) {
      const Node& product = *input.node();
      return readers.at(input) == 1 && Suits(product, device) && SameKind(first, product);
    });
    if (suits && first.device() == sum->device()) Rewrite(graph, sum);
  }
}

}  // namespace sextant
