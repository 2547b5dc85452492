#include "sextant/graph/passes/rewriting.h"

#include "sextant/graph/unknown_op.h"

namespace sextant {

const OpDef* RequireOp(const Graph& graph, std::string_view name) {
  const OpDef* op = graph.FindOp(name);
  if (op == nullptr) throw Internal("op type '{}' is not registered", name);
  return op;
}

std::string FreshName(Graph& graph, const std::string& name) {
  std::string fresh = graph.UniqueName(name);
  while (graph.FindNode(fresh) != nullptr) fresh = graph.UniqueName(name);
  return fresh;
}

bool IsFreeConstant(const Node& node) {
  return node.type() == "Const" && node.control_inputs().empty();
}

void RequireKnown(const Node& node) {
  if (node.op().unknown()) throw UnknownOpError(node);
}

}  // namespace sextant
