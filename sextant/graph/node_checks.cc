// What a node must satisfy to be in a graph: attributes, counts and types of its inputs; and the
// shapes of its outputs.
#include <algorithm>

#include "sextant/graph/graph.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void CheckAllowed(const AttrDef& def, DType type) {
  const auto& allowed = def.allowed_types;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    throw InvalidArgument("attribute '{}' may not be {}", def.name, DTypeName(type));
  }
}

void CheckLength(const AttrDef& def, size_t size) {
  if (def.minimum && static_cast<int64_t>(size) < *def.minimum) {
    throw InvalidArgument("attribute '{}' has {} elements, must have at least {}", def.name, size,
                          *def.minimum);
  }
}

}  // namespace

void Graph::CheckAttrs(const Node& node) const {
  if (node.op().unknown()) return;
  for (const AttrDef& def : node.op().attrs()) {
    const Attr* attr = node.FindAttr(def.name);
    if (!attr) throw InvalidArgument("attribute '{}' is missing", def.name);
    if (attr->Is<AttrPlaceholder>()) continue;
    if (def.type == "int") {
      const int64_t value = attr->Get<int64_t>();
      if (def.minimum && value < *def.minimum) {
        throw InvalidArgument("attribute '{}' is {}, must be at least {}", def.name, value,
                              *def.minimum);
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
  try {
    function(context);
  } catch (const Error&) {
    throw;
  } catch (...) {  // of a user's op; who called says of which node
    throw Error(CurrentStatus()).WithPrefix("its shape function: ");
  }
  for (int i = 0; i < node->num_outputs(); ++i) {
    node->outputs_[i].shape = std::move(context.outputs()[i]);
    if (auto& handle = context.output_handles()[i]) {
      node->outputs_[i].handle = std::make_shared<HandleShape>(std::move(*handle));
    }
  }
}

}  // namespace sextant
