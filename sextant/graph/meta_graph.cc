#include "sextant/graph/meta_graph.h"

#include <google/protobuf/stubs/logging.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>

#include "sextant/graph/op_def_proto.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/variable_node.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/proto/variable.pb.h"

namespace sextant {
namespace {

// What loaders are told this library is compatible with.
constexpr const char* kTensorFlowVersion = "2.15.0";
constexpr const char* kGitVersion = "sextant";

// Collections whose items are VariableDefs, whatever else a graph holds.
constexpr std::array kVariableCollections = {
    "variables",        "trainable_variables",      "local_variables", "model_variables",
    "metric_variables", "moving_average_variables", "global_step"};

bool HoldsVariables(std::string_view collection) {
  return std::find(kVariableCollections.begin(), kVariableCollections.end(), collection) !=
         kVariableCollections.end();
}

// "node", "node:1" → output; of a node without outputs the 0th stands for the operation. None when
// the graph has no such node or output.
std::optional<Output> Resolve(const Graph& graph, const std::string& name) {
  const size_t colon = name.rfind(':');
  int index = 0;
  std::string_view node_name = name;
  if (colon != std::string::npos) {
    const std::string_view digits = node_name.substr(colon + 1);
    if (digits.empty() || digits.size() > 6) return std::nullopt;
    for (const char c : digits) {
      if (c < '0' || c > '9') return std::nullopt;
      index = index * 10 + (c - '0');
    }
    node_name = node_name.substr(0, colon);
  }
  Node* node = graph.FindNode(node_name);
  if (node == nullptr || (index > 0 && index >= node->num_outputs())) return std::nullopt;
  return Output(node, index);
}

// The items of a collection that the Graph can hold; none when one of them is of another kind.
std::optional<std::vector<Output>> Resolve(const Graph& graph, const std::string& name,
                                           const proto::CollectionDef& def) {
  std::vector<Output> items;
  if (def.has_node_list()) {
    for (const std::string& value : def.node_list().value()) {
      const auto item = Resolve(graph, value);
      if (!item) return std::nullopt;
      items.push_back(*item);
    }
    return items;
  }
  if (!def.has_bytes_list() || !HoldsVariables(name)) return std::nullopt;
  const google::protobuf::LogSilencer quiet;
  for (const std::string& value : def.bytes_list().value()) {
    proto::VariableDef variable;
    if (!variable.ParseFromString(value)) return std::nullopt;
    const auto item = Resolve(graph, variable.variable_name());
    if (!item) return std::nullopt;
    items.push_back(*item);
  }
  return items;
}

proto::CollectionDef CollectionToDef(const std::string& name, const std::vector<Output>& items) {
  proto::CollectionDef def;
  const bool variables = HoldsVariables(name) &&
                         std::all_of(items.begin(), items.end(),
                                     [](const Output& item) { return IsVariable(*item.node()); });
  for (const Output& item : items) {
    if (variables) {
      def.mutable_bytes_list()->add_value(VariableDefOf(item).SerializeAsString());
    } else {
      def.mutable_node_list()->add_value(item.node()->num_outputs() == 0 ? item.node()->name()
                                                                         : item.name());
    }
  }
  return def;
}

void FillMetaInfo(const MetaGraphExportOptions& options, proto::MetaGraphDef* def) {
  auto* info = def->mutable_meta_info_def();
  info->set_tensorflow_version(kTensorFlowVersion);
  info->set_tensorflow_git_version(kGitVersion);
  if (options.strip_default_attrs) info->set_stripped_default_attrs(true);
  std::map<std::string, proto::OpDef> ops;
  for (proto::OpDef& op : *info->mutable_stripped_op_list()->mutable_op()) {
    ops[op.name()] = std::move(op);  // what the producer said, in case the op is unknown here
  }
  info->clear_stripped_op_list();
  auto* list = info->mutable_stripped_op_list();
  for (const std::string& name : OpsUsed(def->graph_def())) {
    if (const OpDef* op = OpRegistry::Global().Find(name)) {
      OpDefToProto(*op, list->add_op());
    } else if (const auto known = ops.find(name); known != ops.end()) {
      *list->add_op() = std::move(known->second);
    }
  }
}

}  // namespace

void ImportMetaGraphDef(const proto::MetaGraphDef& def, Graph& graph) {
  ImportGraphDef(def.graph_def(), graph);
  const std::map<std::string_view, const proto::CollectionDef*> sorted = [&] {
    std::map<std::string_view, const proto::CollectionDef*> all;
    for (const auto& [name, collection] : def.collection_def()) all[name] = &collection;
    return all;
  }();
  for (const auto& [name, collection] : sorted) {
    const auto items = Resolve(graph, std::string(name), *collection);
    if (!items) continue;
    for (const Output& item : *items) graph.AddToCollection(name, item);
  }
}

proto::MetaGraphDef ExportMetaGraphDef(const Graph& graph, const MetaGraphExportOptions& options) {
  proto::MetaGraphDef def;
  if (options.imported != nullptr) {
    const proto::MetaGraphDef& imported = *options.imported;
    *def.mutable_meta_info_def() = imported.meta_info_def();
    if (imported.has_saver_def()) *def.mutable_saver_def() = imported.saver_def();
    *def.mutable_collection_def() = imported.collection_def();
    *def.mutable_signature_def() = imported.signature_def();
    *def.mutable_asset_file_def() = imported.asset_file_def();
    if (imported.has_object_graph_def()) {
      *def.mutable_object_graph_def() = imported.object_graph_def();
    }
  }
  *def.mutable_graph_def() =
      ExportGraphDef(graph, {.strip_default_attrs = options.strip_default_attrs});
  for (const std::string& name : graph.CollectionNames()) {
    const std::vector<Output> items = graph.Collection(name);
    const auto known = def.collection_def().find(name);
    if (known != def.collection_def().end() && Resolve(graph, name, known->second) == items) {
      continue;
    }
    (*def.mutable_collection_def())[name] = CollectionToDef(name, items);
  }
  FillMetaInfo(options, &def);
  return def;
}

std::set<std::string> OpsUsed(const proto::GraphDef& graph) {
  std::unordered_map<std::string_view, const proto::FunctionDef*> functions;
  for (const auto& function : graph.library().function()) {
    functions[function.signature().name()] = &function;
  }
  std::set<std::string> used;
  std::deque<const proto::FunctionDef*> waiting;
  const auto use = [&](const std::string& name) {
    if (!used.insert(name).second) return;
    if (const auto function = functions.find(name); function != functions.end()) {
      waiting.push_back(function->second);
    }
  };
  const auto use_node = [&](const proto::NodeDef& node) {
    use(node.op());
    if (node.op() != "PartitionedCall" && node.op() != "StatefulPartitionedCall") return;
    const auto callee = node.attr().find("f");
    use(callee == node.attr().end() ? "" : callee->second.func().name());
  };
  for (const auto& node : graph.node()) use_node(node);
  for (; !waiting.empty(); waiting.pop_front()) {
    for (const auto& node : waiting.front()->node_def()) use_node(node);
  }
  for (const auto& [name, function] : functions) used.erase(std::string(name));
  used.erase("");
  return used;
}

proto::VariableDef VariableDefOf(Output variable) {
  const Node& node = *variable.node();
  const Graph& graph = node.graph();
  const std::string& name = node.name();
  proto::VariableDef def;
  def.set_variable_name(variable.name());
  const bool resource = node.type() == "VarHandleOp";
  def.set_is_resource(resource);
  if (const Node* assign = graph.FindNode(name + "/Assign")) {
    def.set_initializer_name(assign->name());
    if (assign->num_inputs() > 1) def.set_initial_value_name(assign->input(1).name());
  }
  const std::string read = name + (resource ? "/Read/ReadVariableOp" : "/read");
  if (graph.FindNode(read) != nullptr) def.set_snapshot_name(read + ":0");
  const std::vector<Output> trainable = graph.Collection("trainable_variables");
  def.set_trainable(std::find(trainable.begin(), trainable.end(), variable) != trainable.end());
  return def;
}

}  // namespace sextant
