// FunctionBody to FunctionDef.
#include <unordered_map>
#include <unordered_set>

#include "sextant/base/error.h"
#include "sextant/graph/arg_ranges.h"
#include "sextant/graph/function.h"
#include "sextant/graph/graph_def_exporter.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

// Argument names of a signature are made of lower-case letters, digits and '_'.
std::string ArgumentName(std::string_view name) {
  std::string text;
  for (char c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const bool letter = c >= 'a' && c <= 'z';
    text += letter || (c >= '0' && c <= '9') ? c : '_';
  }
  return text.empty() || text[0] < 'a' ? "arg_" + text : text;
}

class DefBuilder {
 public:
  DefBuilder(const std::string& name, const FunctionBody& body) : body_(body) {
    signature().set_name(name);
    for (int i = 0; i < body.graph->num_nodes(); ++i) used_.insert(body.graph->node(i)->name());
  }

  proto::FunctionDef Build() {
    for (const Output& arg : body_.args) AddArgument(arg);
    const GraphDefExporter exporter({});
    for (int i = 0; i < body_.graph->num_nodes(); ++i) {
      const Node& node = *body_.graph->node(i);
      if (node.type() == "_Arg") continue;
      proto::NodeDef* out = def_.add_node_def();
      exporter.NodeToDef(node, out);
      for (const Output& input : node.inputs()) out->add_input(Reference(input));
      for (const Node* input : node.control_inputs()) {
        if (input->type() != "_Arg") out->add_input("^" + input->name());
      }
      if (node.op().stateful()) signature().set_is_stateful(true);
    }
    for (const Output& result : body_.results) AddResult(result);
    for (const Operation& effect : body_.effects) {
      signature().add_control_output(effect.name());
      (*def_.mutable_control_ret())[effect.name()] = effect.name();
    }
    return std::move(def_);
  }

 private:
  proto::OpDef& signature() { return *def_.mutable_signature(); }

  std::string Unique(const std::string& base) {
    std::string name = base;
    for (int i = 1; !used_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    return name;
  }

  void AddArgument(const Output& arg) {
    used_.erase(arg.node()->name());
    const std::string name = Unique(ArgumentName(arg.node()->name()));
    arg_names_.emplace(arg.node(), name);
    const uint32_t index = signature().input_arg_size();
    proto::OpDef::ArgDef* out = signature().add_input_arg();
    out->set_name(name);
    out->set_type(static_cast<proto::DataType>(arg.dtype()));
    if (arg.shape().rank_known()) {
      auto& attrs = *(*def_.mutable_arg_attr())[index].mutable_attr();
      Attr(std::vector<PartialShape>{arg.shape()}).ToProto(&attrs["_output_shapes"]);
    }
  }

  // Results may repeat an output or be an argument, so they have names of their own.
  void AddResult(const Output& result) {
    std::string base = ArgumentName(result.node()->name());
    std::string name = base;
    for (int i = 1; !result_names_.insert(name).second; ++i) name = fmt::format("{}_{}", base, i);
    proto::OpDef::ArgDef* out = signature().add_output_arg();
    out->set_name(name);
    out->set_type(static_cast<proto::DataType>(RemoveRef(result.dtype())));
    (*def_.mutable_ret())[name] = Reference(result);
  }

  std::string Reference(const Output& output) const {
    const auto arg = arg_names_.find(output.node());
    if (arg != arg_names_.end()) return arg->second;
    return output.node()->name() + ":" + OutputReference(*output.node(), output.index());
  }

  const FunctionBody& body_;
  proto::FunctionDef def_;
  std::unordered_set<std::string> used_, result_names_;
  std::unordered_map<const Node*, std::string> arg_names_;
};

}  // namespace

proto::FunctionDef DefFromBody(const std::string& name, const FunctionBody& body) {
  return DefBuilder(name, body).Build();
}

}  // namespace sextant
