#include "sextant/runtime/session_state_nodes.h"

#include <algorithm>

#include "sextant/graph/op_registry.h"

namespace sextant {
namespace {

bool IsVariable(std::string_view op) {
  return op == "VarHandleOp" || op == "VariableV2" || op == "Variable";
}

bool KeepsSessionState(const proto::NodeDef& node) {
  const OpDef* op = OpRegistry::Global().Find(node.op());
  if (op == nullptr || !op->stateful() || IsVariable(node.op())) return false;
  if (op->FindAttr("shared_name") == nullptr) return op->FindAttr("seed") != nullptr;
  const auto name = node.attr().find("shared_name");
  return name == node.attr().end() || name->second.s().empty();
}

bool AnyKeepsSessionState(const auto& nodes) {
  return std::ranges::any_of(nodes, [](const auto& node) { return KeepsSessionState(node); });
}

}  // namespace

bool KeepsSessionState(const proto::GraphDef& graph) {
  return AnyKeepsSessionState(graph.node()) ||
         std::ranges::any_of(graph.library().function(), [](const proto::FunctionDef& function) {
           return AnyKeepsSessionState(function.node_def());
         });
}

}  // namespace sextant
