#include "sextant/runtime/signature_effects.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/graph/function.h"
#include "sextant/graph/op_registry.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

// Stateful ops without effects of their own; of those that call functions, these are looked into.
bool IsReader(std::string_view op) {
  static const std::set<std::string_view> kReaders = {"AnonymousHashTable",
                                                      "Assert",
                                                      "Case",
                                                      "HashTable",
                                                      "HashTableV2",
                                                      "If",
                                                      "IsVariableInitialized",
                                                      "LookupTableFind",
                                                      "LookupTableFindV2",
                                                      "LookupTableSize",
                                                      "LookupTableSizeV2",
                                                      "MutableDenseHashTableV2",
                                                      "MutableHashTable",
                                                      "MutableHashTableV2",
                                                      "PartitionedCall",
                                                      "Placeholder",
                                                      "PlaceholderV2",
                                                      "PlaceholderWithDefault",
                                                      "ReadVariableOp",
                                                      "ResourceGather",
                                                      "ResourceGatherNd",
                                                      "StatefulPartitionedCall",
                                                      "StatelessCase",
                                                      "StatelessIf",
                                                      "StatelessWhile",
                                                      "VarHandleOp",
                                                      "VarIsInitializedOp",
                                                      "Variable",
                                                      "VariableShape",
                                                      "VariableV2",
                                                      "While"};
  return kReaders.contains(op);
}

bool OpOnlyReads(const std::string& op, const FunctionLibrary& library) {
  if (library.Find(op) != nullptr) return true;  // its body is looked at
  const OpDef* def = OpRegistry::Global().Find(op);
  return def != nullptr && (!def->stateful() || IsReader(op));
}

bool FunctionOnlyReads(const std::string& name, const FunctionLibrary& library) {
  const Function* function = library.Find(name);
  if (function == nullptr) return false;
  const auto body_only_reads = [&](const Function& called) {
    for (const proto::NodeDef& node : called.def().node_def()) {
      if (!OpOnlyReads(node.op(), library)) return false;
    }
    return true;
  };
  if (!body_only_reads(*function)) return false;
  const FunctionLibrary reachable = library.ReachableFrom(*function);
  for (const auto& called : reachable.all()) {
    if (!body_only_reads(*called)) return false;
  }
  return true;
}

bool NodeOnlyReads(const Node& node, const FunctionLibrary& library) {
  if (!OpOnlyReads(node.type(), library)) return false;
  if (library.Find(node.type()) != nullptr && !FunctionOnlyReads(node.type(), library)) {
    return false;
  }
  for (const auto& [name, attr] : node.attrs()) {
    if (attr.Is<FuncAttr>() && !FunctionOnlyReads(attr.Get<FuncAttr>().name, library)) return false;
    if (!attr.Is<std::vector<FuncAttr>>()) continue;
    for (const FuncAttr& function : attr.Get<std::vector<FuncAttr>>()) {
      if (!FunctionOnlyReads(function.name, library)) return false;
    }
  }
  return true;
}

}  // namespace

bool OnlyReads(std::span<const Output> outputs) {
  std::vector<const Node*> waiting;
  std::set<const Node*> seen;
  const auto add = [&](const Node* node) {
    if (seen.insert(node).second) waiting.push_back(node);
  };
  for (const Output& output : outputs) add(output.node());
  while (!waiting.empty()) {
    const Node* node = waiting.back();
    waiting.pop_back();
    if (!NodeOnlyReads(*node, node->graph().functions())) return false;
    for (const Output& input : node->inputs()) add(input.node());
    for (const Node* control : node->control_inputs()) add(control);
  }
  return true;
}

}  // namespace sextant
