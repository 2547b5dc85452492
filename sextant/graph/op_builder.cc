#include "sextant/graph/op_builder.h"

#include <algorithm>

#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"

namespace sextant {
namespace {

// Sets an attribute inferred from the inputs unless the caller gave it.
void Infer(AttrMap& attrs, const std::string& name, Attr value) {
  if (!FindAttr(attrs, name)) attrs.emplace_back(name, std::move(value));
}

}  // namespace

OpBuilder::OpBuilder(std::string_view op) : op_(op) {}

OpBuilder& OpBuilder::Input(Output value) {
  args_.push_back({{value}, false});
  return *this;
}

OpBuilder& OpBuilder::Input(std::vector<Output> values) {
  args_.push_back({std::move(values), true});
  return *this;
}

OpBuilder& OpBuilder::ControlInput(Operation operation) {
  control_inputs_.push_back(operation.node());
  return *this;
}

OpBuilder& OpBuilder::ControlInputs(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) ControlInput(operation);
  return *this;
}

OpBuilder& OpBuilder::Attr(std::string_view name, sextant::Attr value) {
  SetAttr(attrs_, name, std::move(value));
  return *this;
}

OpBuilder& OpBuilder::Name(std::string_view name) {
  name_ = name;
  return *this;
}

OpBuilder& OpBuilder::Device(std::string_view device) {
  device_ = device;
  device_set_ = true;
  return *this;
}

Node* OpBuilder::BuildNode() {
  const ScopeState& scope = CurrentScope();
  Graph& graph = *scope.graph;
  NodeSpec spec;
  spec.op = graph.FindOp(op_);
  if (!spec.op) throw NotFound("op type '{}' is not registered", op_);
  const std::string full_name = scope.name + (name_.empty() ? op_ : name_);
  const auto& defs = spec.op->inputs();
  if (defs.size() != args_.size()) {
    throw InvalidArgument("[{} {}] takes {} input arguments, got {}", op_, full_name, defs.size(),
                          args_.size());
  }
  for (size_t i = 0; i < args_.size(); ++i) {
    const ArgDef& def = defs[i];
    std::vector<DType> types;
    for (Output& value : args_[i].values) {
      if (!value) {
        throw InvalidArgument("[{} {}] input '{}' is an empty Output", op_, full_name, def.name);
      }
      if (&value.graph() != &graph) value = graph.Capture(value);
      types.push_back(RemoveRef(value.dtype()));
      spec.inputs.push_back(value);
    }
    if (!def.number_attr.empty()) {
      Infer(attrs_, def.number_attr, static_cast<int64_t>(types.size()));
    }
    if (!def.type_list_attr.empty()) {
      Infer(attrs_, def.type_list_attr, std::move(types));
    } else if (!def.type_attr.empty() && !types.empty()) {
      Infer(attrs_, def.type_attr, types[0]);
    }
  }
  for (const AttrDef& attr : spec.op->attrs()) {
    if (attr.default_value) Infer(attrs_, attr.name, *attr.default_value);
  }
  spec.attrs = std::move(attrs_);
  spec.control_inputs = std::move(control_inputs_);
  for (Node* node : scope.control_inputs) {
    if (&node->graph() == &graph &&
        std::find(spec.control_inputs.begin(), spec.control_inputs.end(), node) ==
            spec.control_inputs.end()) {
      spec.control_inputs.push_back(node);
    }
  }
  spec.name = graph.UniqueName(full_name);
  if (device_set_) {
    spec.device = device_;
  } else {
    ApplyDeviceScopes(spec);
  }
  return graph.AddNode(std::move(spec));
}

Output OpBuilder::Build() {
  Node* node = BuildNode();
  if (node->num_outputs() == 0) {
    throw InvalidArgument("[{} {}] has no outputs; use BuildOperation", node->type(), node->name());
  }
  return node->output(0);
}

std::vector<Output> OpBuilder::BuildAll() {
  Node* node = BuildNode();
  std::vector<Output> outputs;
  for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back(node->output(i));
  return outputs;
}

Output Const(const Tensor& value, std::string_view name) {
  return OpBuilder("Const").Attr("value", value).Attr("dtype", value.dtype()).Name(name).Build();
}

Output ConstInts(const std::vector<int64_t>& values, DType dtype) {
  if (dtype == DType::kInt64) return Const(Tensor::FromVector(values));
  return Const(Tensor::FromVector(std::vector<int32_t>(values.begin(), values.end())));
}

}  // namespace sextant
