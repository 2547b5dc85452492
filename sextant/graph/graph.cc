#include "sextant/graph/graph.h"

#include <algorithm>

#include "sextant/graph/attachment.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/replica.h"
#include "sextant/graph/unknown_op.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

bool ValidName(std::string_view name) {
  const auto alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  // A leading underscore is left to nodes that the runtime makes.
  if (name.empty() || !(alphanumeric(name[0]) || name[0] == '.' || name[0] == '_')) return false;
  return std::all_of(name.begin(), name.end(), [&](char c) {
    return alphanumeric(c) || c == '_' || c == '.' || c == '-' || c == '/' || c == '\\' || c == '>';
  });
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

Error NodeError(const Node& node, const Error& error) {
  return error.WithPrefix(fmt::format("[{} {}] ", node.type(), node.name()));
}

}  // namespace

// ---- Graph: adding nodes

Graph::Graph() = default;
Graph::Graph(Graph* outer) : outer_(outer) {
  seed_ = outer->seed_;
  functions_.AddAll(outer->functions_);
}
Graph::~Graph() { DropAttachments(*this); }

const OpDef* Graph::FindOp(std::string_view name) const {
  if (const Function* function = functions_.empty() ? nullptr : functions_.Find(name)) {
    return &function->signature();
  }
  return OpRegistry::Global().Find(name);
}

const OpDef* Graph::UnknownOp(std::string_view name) {
  auto& def = local_ops_[std::string(name)];
  if (!def) def = std::make_unique<OpDef>(OpDef::Unknown(std::string(name)));
  return def.get();
}

Node* Graph::NewNode(std::string name, const OpDef* op) {
  if (!ValidName(name)) throw InvalidArgument("'{}' is not a valid node name", name);
  auto& index = NameIndex();
  if (index.contains(name)) throw InvalidArgument("there are two nodes named '{}'", name);
  Node* node = NewNodeUnchecked(std::move(name), op);
  indexed_ = true;
  index.emplace(node->name_, node);
  return node;
}

Node* Graph::NewNodeUnchecked(std::string name, const OpDef* op) {
  auto node = std::make_unique<Node>();
  node->graph_ = this;
  node->id_ = num_nodes();
  node->name_ = std::move(name);
  node->op_ = op;
  indexed_ = false;
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

std::unordered_map<std::string_view, Node*>& Graph::NameIndex() const {
  if (!indexed_) {
    by_name_.clear();
    by_name_.reserve(nodes_.size());
    for (const auto& node : nodes_) by_name_.emplace(node->name_, node.get());
    indexed_ = true;
  }
  return by_name_;
}

Node* Graph::AddNode(NodeSpec spec) {
  for (const Output& input : spec.inputs) {
    if (!input || &input.graph() != this) {
      throw InvalidArgument("[{} {}] an input is not a tensor of this graph", spec.op->name(),
                            spec.name);
    }
  }
  Node* node = NewNode(std::move(spec.name), spec.op);
  node->inputs_ = std::move(spec.inputs);
  node->control_inputs_ = std::move(spec.control_inputs);
  node->attrs_ = std::move(spec.attrs);
  node->device_ = std::move(spec.device);
  try {
    CheckAttrs(*node);
    ResolveTypes(node);
    InferShapes(node);
  } catch (const Error& e) {
    by_name_.erase(node->name_);
    const std::unique_ptr<Node> failed = std::move(nodes_.back());
    nodes_.pop_back();
    throw e.message().starts_with('[') ? e : NodeError(*failed, e);
  }
  if (node->type() == "_Arg") ++num_args_;
  return node;
}

std::string Graph::UniqueName(const std::string& name) {
  std::string key = Lower(name);
  int& count = used_names_[key];
  if (count++ == 0 && !NameIndex().contains(name)) return name;
  for (int i = std::max(count - 1, 1);; ++i) {
    if (used_names_.emplace(fmt::format("{}_{}", key, i), 1).second) {
      std::string unique = fmt::format("{}_{}", name, i);
      if (NameIndex().contains(unique)) continue;
      used_names_[key] = i + 1;
      return unique;
    }
  }
}

// ---- Graph: looking up

Node* Graph::FindNode(std::string_view name) const {
  const auto& index = NameIndex();
  const auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
}

Operation Graph::FindOperation(std::string_view name) const {
  if (name.starts_with('^')) name.remove_prefix(1);
  Node* node = FindNode(name);
  if (!node) throw NotFound("the graph has no operation named '{}'", name);
  return Operation(node);
}

Output Graph::FindOutput(std::string_view name) const {
  const size_t colon = name.rfind(':');
  int index = 0;
  std::string_view base = name;
  if (colon != std::string_view::npos) {
    base = name.substr(0, colon);
    const std::string_view digits = name.substr(colon + 1);
    if (digits.empty() || digits.size() > 6 ||
        digits.find_first_not_of("0123456789") != std::string_view::npos) {
      throw InvalidArgument("'{}' is not a tensor name", name);
    }
    index = std::stoi(std::string(digits));
  }
  Node* node = FindNode(base);
  if (!node) throw NotFound("the graph has no tensor named '{}'", name);
  if (index >= node->num_outputs()) {
    if (node->op().unknown()) throw UnknownOpError(*node);
    throw InvalidArgument("'{}': node {} has {} outputs", name, base, node->num_outputs());
  }
  return node->output(index);
}

void Graph::AddToCollection(std::string_view name, Output value) {
  Replica* replica = outer_ == nullptr ? Replica::Current() : nullptr;
  if (replica && !replica->IsCommon(name, value)) {
    replica->collections_[std::string(name)].push_back(value);
    return;
  }
  for (auto& [key, values] : collections_) {
    if (key == name) {
      values.push_back(value);
      return;
    }
  }
  collections_.emplace_back(name, std::vector<Output>{value});
}

std::vector<Output> Graph::Collection(std::string_view name, std::string_view scope) const {
  std::vector<Output> found;
  for (const auto& [key, values] : collections_) {
    if (key == name) found = values;
  }
  const Replica* replica = outer_ == nullptr ? Replica::Current() : nullptr;
  if (replica) found = replica->Visible(name, std::move(found));
  std::erase_if(found,
                [&](const Output& value) { return !value.node()->name().starts_with(scope); });
  return found;
}

std::vector<std::string> Graph::CollectionNames() const {
  std::vector<std::string> names;
  for (const auto& [key, values] : collections_) names.push_back(key);
  return names;
}

Output Graph::Capture(Output tensor) {
  if (&tensor.graph() == this) return tensor;
  if (!outer_) {
    throw InvalidArgument("tensor {} belongs to another graph", tensor.name());
  }
  tensor = outer_->Capture(tensor);
  if (const auto it = captured_.find(tensor); it != captured_.end()) return it->second;
  Node* source = tensor.node();
  NodeSpec spec;
  spec.name = UniqueName(source->name());
  if (source->type() == "Const") {  // copied, so that its value stays known in here
    spec.op = source->op_;
    spec.attrs = source->attrs_;
    const Output copy = AddNode(std::move(spec))->output(0);
    captured_.emplace(tensor, copy);
    return copy;
  }
  spec.op = FindOp("_Arg");
  spec.attrs.emplace_back("T", RemoveRef(tensor.dtype()));
  spec.attrs.emplace_back("index", static_cast<int64_t>(num_args_));
  Node* arg = AddNode(std::move(spec));
  arg->outputs_[0] = source->outputs_[tensor.index()];
  captured_.emplace(tensor, arg->output(0));
  captures_.emplace_back(tensor, arg->output(0));
  return arg->output(0);
}

// ---- Graph: rewriting

void Graph::SetInput(Node* node, int i, Output value) {
  node->inputs_.at(i) = value;
  ++version_;
}

void Graph::SetControlInputs(Node* node, std::vector<Node*> inputs) {
  node->control_inputs_ = std::move(inputs);
  ++version_;
}

void Graph::SetDevice(Node* node, std::string device) {
  node->device_ = std::move(device);
  ++version_;
}

void Graph::SetNodeAttr(Node* node, std::string_view name, Attr value) {
  SetAttr(node->attrs_, name, std::move(value));
  ++version_;
}

void Graph::Replace(Node* node, NodeSpec spec) {
  node->op_ = spec.op;
  node->inputs_ = std::move(spec.inputs);
  node->control_inputs_ = std::move(spec.control_inputs);
  node->attrs_ = std::move(spec.attrs);
  node->extra_.reset();
  ++version_;
  try {
    CheckAttrs(*node);
    ResolveTypes(node);
    InferShapes(node);
  } catch (const Error& e) {
    throw NodeError(*node, e);
  }
}

void Graph::Remove(const std::vector<Node*>& nodes) {
  std::vector<bool> gone(nodes_.size());
  for (const Node* node : nodes) gone[node->id_] = true;
  if (indexed_) {
    for (const Node* node : nodes) by_name_.erase(node->name_);
  }
  std::erase_if(nodes_, [&](const auto& node) { return gone[node->id_]; });
  for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->id_ = static_cast<int>(i);
  ++version_;
}

}  // namespace sextant
