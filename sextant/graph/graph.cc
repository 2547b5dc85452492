#include "sextant/graph/graph.h"

#include <algorithm>

#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
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

void CheckAllowed(const AttrDef& def, DType type) {
  const auto& allowed = def.allowed_types;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    throw InvalidArgument("attribute '{}' may not be {}", def.name, DTypeName(type));
  }
}

void CheckLength(const AttrDef& def, size_t size) {
  if (def.minimum && static_cast<int64_t>(size) < *def.minimum) {
    throw InvalidArgument("attribute '{}' has {} elements, must have at least {}", def.name, size, *def.minimum);
  }
}

Error NodeError(const Node& node, const Error& error) {
  return error.WithPrefix(fmt::format("[{} {}] ", node.type(), node.name()));
}

}  // namespace

// ---- Node

const Attr* Node::FindAttr(std::string_view name) const {
  if (const Attr* attr = sextant::FindAttr(attrs_, name)) return attr;
  const AttrDef* def = op_->FindAttr(name);
  return def && def->default_value ? &*def->default_value : nullptr;
}

const Attr& Node::RequireAttr(std::string_view name) const {
  const Attr* attr = FindAttr(name);
  if (!attr) ThrowAttr(name, "is missing");
  return *attr;
}

void Node::ThrowAttr(std::string_view name, const char* what) const {
  throw InvalidArgument("[{} {}] attribute '{}': {}", type(), name_, name, what);
}

std::span<const Output> Node::inputs(std::string_view name) const {
  size_t begin = 0;
  for (const ArgDef& arg : op_->inputs()) {
    size_t count = 1;
    if (!arg.number_attr.empty()) {
      count = static_cast<size_t>(attr<int64_t>(arg.number_attr));
    } else if (!arg.type_list_attr.empty()) {
      count = attr<std::vector<DType>>(arg.type_list_attr).size();
    }
    if (arg.name == name) return inputs().subspan(begin, count);
    begin += count;
  }
  throw InvalidArgument("[{} {}] has no input '{}'", type(), name_, name);
}

// ---- Graph: adding nodes

Graph::Graph() = default;
Graph::Graph(Graph* outer) : outer_(outer) {
  seed_ = outer->seed_;
  functions_.AddAll(outer->functions_);
}
Graph::~Graph() = default;

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
      throw InvalidArgument("[{} {}] an input is not a tensor of this graph", spec.op->name(), spec.name);
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

void Graph::CheckAttrs(const Node& node) const {
  if (node.op().unknown()) return;
  for (const AttrDef& def : node.op().attrs()) {
    const Attr* attr = node.FindAttr(def.name);
    if (!attr) throw InvalidArgument("attribute '{}' is missing", def.name);
    if (attr->Is<AttrPlaceholder>()) continue;
    if (def.type == "int") {
      const int64_t value = attr->Get<int64_t>();
      if (def.minimum && value < *def.minimum) {
        throw InvalidArgument("attribute '{}' is {}, must be at least {}", def.name, value, *def.minimum);
      }
    } else if (def.type == "type") {
      CheckAllowed(def, attr->Get<DType>());
    } else if (def.type == "string") {
      const std::string& value = attr->Get<std::string>();
      if (!def.allowed_strings.empty() &&
          std::find(def.allowed_strings.begin(), def.allowed_strings.end(), value) ==
              def.allowed_strings.end()) {
        throw InvalidArgument("attribute '{}' may not be '{}'", def.name, value);
      }
    } else if (def.type == "list(type)") {
      const auto& types = attr->Get<std::vector<DType>>();
      CheckLength(def, types.size());
      for (const DType type : types) CheckAllowed(def, type);
    } else if (def.type == "list(shape)") {
      CheckLength(def, attr->Get<std::vector<PartialShape>>().size());
    } else if (def.type == "list(func)") {
      CheckLength(def, attr->Get<std::vector<FuncAttr>>().size());
    } else if (def.type == "list(int)") {
      CheckLength(def, attr->Get<std::vector<int64_t>>().size());
    } else if (def.type == "bool") {
      attr->Get<bool>();
    } else if (def.type == "float") {
      attr->Get<float>();
    } else if (def.type == "shape") {
      attr->Get<PartialShape>();
    } else if (def.type == "func") {
      attr->Get<FuncAttr>();
    } else if (def.type == "tensor") {
      attr->Get<Tensor>();
    }
  }
}

namespace {

// Calls f(type) for each tensor of the argument, by the node's attributes.
template <typename F>
void ForEachTensor(const Node& node, const ArgDef& arg, F&& f) {
  if (!arg.type_list_attr.empty()) {
    for (DType type : node.attr<std::vector<DType>>(arg.type_list_attr)) f(type);
    return;
  }
  const DType type = arg.type_attr.empty() ? arg.type : node.attr<DType>(arg.type_attr);
  const int64_t count = arg.number_attr.empty() ? 1 : node.attr<int64_t>(arg.number_attr);
  constexpr int64_t kMaxTensors = 1 << 20;
  if (count < 0 || count > kMaxTensors) {
    throw InvalidArgument("attribute '{}' = {} is out of range", arg.number_attr, count);
  }
  for (int64_t i = 0; i < count; ++i) f(type);
}

}  // namespace

void Graph::ResolveTypes(Node* node) const {
  if (node->op().unknown()) return;
  size_t next = 0;
  for (const ArgDef& arg : node->op().inputs()) {
    ForEachTensor(*node, arg, [&](DType type) {
      if (next >= node->inputs_.size()) {
        throw InvalidArgument("needs more inputs than the {} given", node->inputs_.size());
      }
      const DType given = node->inputs_[next].dtype();
      if (given != DType::kInvalid && RemoveRef(given) != type) {
        throw InvalidArgument("input '{}' ({}) is {}, must be {}", arg.name,
                              node->inputs_[next].name(), DTypeName(given), DTypeName(type));
      }
      if (arg.is_ref && given != DType::kInvalid && !IsRef(given)) {
        throw InvalidArgument("input '{}' ({}) must be a reference to a variable", arg.name,
                              node->inputs_[next].name());
      }
      ++next;
    });
  }
  if (next != node->inputs_.size()) {
    throw InvalidArgument("takes {} inputs, got {}", next, node->inputs_.size());
  }
  node->outputs_.clear();
  for (const ArgDef& arg : node->op().outputs()) {
    ForEachTensor(*node, arg, [&](DType type) {
      node->outputs_.emplace_back().dtype = arg.is_ref ? MakeRef(type) : type;
    });
  }
}

void Graph::InferShapes(Node* node) const {
  InferShapes(
      node, [node](int i) { return ConstantValue(node->inputs_[i]); },
      [node](int i) { return ConstantValueAsShape(node->inputs_[i]); });
}

void Graph::InferShapes(Node* node, const std::function<std::optional<Tensor>(int)>& value,
                        const std::function<PartialShape(int)>& shape_value) const {
  const ShapeFunction& function = node->op().shape();
  if (!function) return;
  std::vector<PartialShape> shapes;
  std::vector<const HandleShape*> handles;
  shapes.reserve(node->inputs_.size());
  handles.reserve(node->inputs_.size());
  for (const Output& input : node->inputs_) {
    shapes.push_back(input.shape());
    handles.push_back(input.node()->output_handle(input.index()));
  }
  ShapeContext context(*node, std::move(shapes), std::move(handles), value, shape_value);
  function(context);
  for (int i = 0; i < node->num_outputs(); ++i) {
    node->outputs_[i].shape = std::move(context.outputs()[i]);
    if (auto& handle = context.output_handles()[i]) {
      node->outputs_[i].handle = std::make_shared<HandleShape>(std::move(*handle));
    }
  }
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
    throw InvalidArgument("'{}': node {} has {} outputs", name, base, node->num_outputs());
  }
  return node->output(index);
}

void Graph::AddToCollection(std::string_view name, Output value) {
  for (auto& [key, values] : collections_) {
    if (key == name) {
      values.push_back(value);
      return;
    }
  }
  collections_.emplace_back(name, std::vector<Output>{value});
}

std::vector<Output> Graph::Collection(std::string_view name) const {
  for (const auto& [key, values] : collections_) {
    if (key == name) return values;
  }
  return {};
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
