#include "sextant/dist/stale_fragment.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/graph/op_registry.h"
#include "sextant/proto/graph.pb.h"

namespace sextant::dist {
namespace {

using proto::GraphDef;
using proto::NodeDef;

constexpr const char* kScale = "sextant_stale/scale";
constexpr uint64_t kWithoutSalt = 0x9e3779b97f4a7c15, kScaledSalt = 0xc2b2ae3d27d4eb4f;

GraphDef Parse(const Fragment& fragment) {
  GraphDef graph;
  if (!graph.ParseFromString(fragment.graph_def)) throw DataLoss("a fragment's graph is damaged");
  return graph;
}

std::shared_ptr<const Fragment> Variant(const Fragment& fragment, const GraphDef& graph,
                                        uint64_t salt) {
  auto variant = std::make_shared<Fragment>(fragment);
  variant->graph_def = graph.SerializeAsString();
  variant->fingerprint = fragment.fingerprint ^ salt;
  return variant;
}

bool ChangesVariable(const NodeDef& node) {
  const std::string_view op = node.op();
  return op.starts_with("ResourceApply") || op.starts_with("ResourceSparseApply") ||
         op.starts_with("ResourceScatter") || op == "AssignVariableOp" ||
         op == "AssignAddVariableOp" || op == "AssignSubVariableOp";
}

// An integer without dimensions.
bool IsCount(const NodeDef& handle) {
  const auto dtype = handle.attr().find("dtype"), shape = handle.attr().find("shape");
  if (dtype == handle.attr().end() || shape == handle.attr().end()) return false;
  const bool integer =
      dtype->second.type() == proto::DT_INT64 || dtype->second.type() == proto::DT_INT32;
  return integer && !shape->second.shape().unknown_rank() && shape->second.shape().dim_size() == 0;
}

std::string_view NodeOf(std::string_view input) { return input.substr(0, input.find(':')); }

// The position of the gradient among the inputs.
std::optional<int> GradientOf(const NodeDef& node) {
  const std::string_view op = node.op();
  const bool rows = op == "ResourceScatterAdd" || op == "ResourceScatterSub";
  const bool applies = op.starts_with("ResourceApply") || op.starts_with("ResourceSparseApply");
  const OpDef* def = rows || applies ? OpRegistry::Global().Find(op) : nullptr;
  if (def == nullptr) return std::nullopt;
  for (size_t i = 0; i < def->inputs().size(); ++i) {
    const std::string& name = def->inputs()[i].name;
    if (rows ? name == "updates" : name == "grad" || name == "delta") return static_cast<int>(i);
  }
  return std::nullopt;
}

NodeDef* AddNode(GraphDef& graph, const std::string& name, const char* op, const NodeDef& beside) {
  NodeDef* node = graph.add_node();
  node->set_name(name);
  node->set_op(op);
  node->set_device(beside.device());
  return node;
}

}  // namespace

bool ChangesVariables(const Fragment& fragment) {
  const GraphDef graph = Parse(fragment);
  return std::any_of(graph.node().begin(), graph.node().end(), ChangesVariable);
}

std::shared_ptr<const Fragment> WithoutUpdates(const Fragment& fragment) {
  if (!fragment.kept.empty()) return nullptr;
  GraphDef graph = Parse(fragment);
  std::map<std::string, bool, std::less<>> is_count;  // by handle
  for (const NodeDef& node : graph.node()) {
    if (node.op() == "VarHandleOp") is_count[node.name()] = IsCount(node);
  }
  for (NodeDef& node : *graph.mutable_node()) {
    if (!ChangesVariable(node) || node.input_size() == 0) continue;
    const auto handle = is_count.find(NodeOf(node.input(0)));
    if (handle != is_count.end() && handle->second) continue;
    NodeDef nothing;
    nothing.set_name(node.name());
    nothing.set_op("NoOp");
    nothing.set_device(node.device());
    for (const std::string& input : node.input()) {
      if (input.starts_with("^")) nothing.add_input(input);
    }
    node.Swap(&nothing);
  }
  return Variant(fragment, graph, kWithoutSalt);
}

std::shared_ptr<const Fragment> WithScaledGradients(const Fragment& fragment) {
  if (!fragment.kept.empty()) return nullptr;
  GraphDef graph = Parse(fragment);
  bool any = false;
  const int count = graph.node_size();
  for (int i = 0; i < count; ++i) {
    const NodeDef node = graph.node(i);  // a copy: nodes are added
    const std::optional<int> gradient = GradientOf(node);
    if (!gradient || *gradient >= node.input_size()) continue;
    const auto type = node.attr().find(node.attr().contains("T") ? "T" : "dtype");
    if (type == node.attr().end()) continue;
    if (!std::exchange(any, true)) {
      NodeDef* scale = AddNode(graph, kScale, "Placeholder", node);
      (*scale->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
      (*scale->mutable_attr())["shape"].mutable_shape();
    }
    const std::string prefix = "sextant_stale/" + node.name();
    NodeDef* cast = AddNode(graph, prefix + "/cast", "Cast", node);
    cast->add_input(kScale);
    (*cast->mutable_attr())["SrcT"].set_type(proto::DT_FLOAT);
    (*cast->mutable_attr())["DstT"] = type->second;
    NodeDef* scaled = AddNode(graph, prefix + "/scaled", "Mul", node);
    scaled->add_input(node.input(*gradient));
    scaled->add_input(prefix + "/cast");
    (*scaled->mutable_attr())["T"] = type->second;
    graph.mutable_node(i)->set_input(*gradient, prefix + "/scaled");
  }
  if (!any) return nullptr;
  auto variant = std::make_shared<Fragment>(*Variant(fragment, graph, kScaledSalt));
  variant->feeds.push_back(fmt::format("{}:0", kScale));
  return variant;
}

}  // namespace sextant::dist
