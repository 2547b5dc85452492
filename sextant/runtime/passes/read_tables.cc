#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/factor_products.h"
#include "sextant/runtime/passes/product_parts.h"
#include "sextant/runtime/passes/variable_touches.h"

namespace sextant {
namespace {

bool IsGather(const Node& node) {
  return node.type() == "ResourceGather" && node.control_inputs().empty() &&
         node.attr<int64_t>("batch_dims") == 0 && node.input(1).shape().fully_known() &&
         node.input(1).shape().rank() == 1;
}

// Whether the variable has few rows for what is gathered of it.
bool IsSmallTable(const std::vector<Node*>& gathers) {
  const Output handle = gathers[0]->input(0);
  const HandleShape* table = handle.node()->output_handle(handle.index());
  if (table == nullptr || !table->shape.fully_known() || table->shape.rank() != 2) return false;
  int64_t rows = 0;
  for (const Node* gather : gathers) rows += gather->input(1).shape()[0];
  return rows >= kMinTableUses * table->shape[0];
}

}  // namespace

void ReadTables(Graph& graph, const Device&) {
  if (!HasNodeOf(graph, "ResourceGather") || !HasNodeOf(graph, "MatMul")) return;
  std::map<int, std::vector<Node*>> gathers_of;  // by variable, in the order of the Plan
  const std::vector<Node*> order = TopologicalOrder(graph);
  const VariableTouches touches(order);
  std::vector<size_t> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]->id()] = i;
    if (!IsGather(*order[i])) continue;
    const int variable = touches.VariableOf(order[i]->input(0));
    if (variable != VariableTouches::kUnknown) gathers_of[variable].push_back(order[i]);
  }
  std::unordered_map<Output, Output> moved;
  std::unordered_set<const Node*> keep;
  NodeAdder add(graph);
  for (const auto& [variable, gathers] : gathers_of) {
    Node* first = gathers.front();
    if (!IsSmallTable(gathers) ||
        touches.ChangedBetween(variable, place[first->id()], place[gathers.back()->id()])) {
      continue;
    }
    // The read takes the place of the first gather: it comes before what changes the variable.
    add.For(*first);
    const Output ids = first->input(1), table = first->output(0);
    graph.Replace(first, add.Spec("ReadVariableOp", {first->input(0)},
                                  {{"dtype", first->attr<DType>("dtype")}}));
    moved[table] = add.Add(add.Gather(table, ids));
    keep.insert(moved[table].node());
    for (size_t i = 1; i < gathers.size(); ++i) {
      add.For(*gathers[i]);
      graph.Replace(gathers[i], add.Gather(table, gathers[i]->input(1)));
      keep.insert(gathers[i]);
    }
  }
  if (!moved.empty()) MoveReaders(graph, moved, keep);
}

}  // namespace sextant
