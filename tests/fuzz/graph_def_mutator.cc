#include "tests/fuzz/graph_def_mutator.h"

#include <fmt/format.h>

#include "sextant/graph/op_registry.h"
#include "tests/fuzz/random_values.h"

namespace sextant::fuzz {
namespace {

using proto::DataType;
using proto::FunctionDef;
using proto::GraphDef;
using proto::NodeDef;

// The nodes of the graph or of one of its functions.
class Body {
 public:
  Body(Dice& dice, GraphDef* def) : dice_(dice), nodes_(def->mutable_node()) {
    for (const FunctionDef& function : def->library().function())
      functions_.push_back(function.signature().name());
    if (functions_.empty() || dice.OneIn(2)) return;
    function_ =
        def->mutable_library()->mutable_function(dice.Below(static_cast<int>(functions_.size())));
    nodes_ = function_->mutable_node_def();
  }

  bool empty() const { return nodes_->empty(); }
  NodeDef* RandomNode() { return nodes_->Mutable(dice_.Below(nodes_->size())); }

  void ChangeInput() {
    NodeDef* node = RandomNode();
    if (node->input_size() == 0 || dice_.OneIn(12)) {
      node->add_input("^" + RandomNode()->name());
    } else if (dice_.OneIn(8)) {
      node->mutable_input()->RemoveLast();
    } else {
      node->set_input(dice_.Below(node->input_size()), RandomOutput());
    }
  }
  void ChangeAttr() {
    NodeDef* node = RandomNode();
    if (node->attr().empty()) return;
    auto entry = node->mutable_attr()->begin();
    std::advance(entry, dice_.Below(static_cast<int>(node->attr().size())));
    if (dice_.OneIn(12)) {
      node->mutable_attr()->erase(entry);
    } else if (const OpDef* op = OpRegistry::Global().Find(node->op());
               op != nullptr && op->FindAttr(entry->first) != nullptr && dice_.OneIn(2)) {
      entry->second = RandomAttr(dice_, *op->FindAttr(entry->first), functions_);
    } else {
      MutateAttr(dice_, &entry->second, functions_);
    }
  }
  void ChangeOp() {
    NodeDef* node = RandomNode();
    const OpDef& op = RandomOp();
    node->set_op(op.name());
    for (const AttrDef& attr : op.attrs()) {
      if (!node->attr().contains(attr.name))
        (*node->mutable_attr())[attr.name] = RandomAttr(dice_, attr, functions_);
    }
  }
  void ChangeTensor() {
    for (int attempt = 0; attempt < 8; ++attempt) {
      NodeDef* node = RandomNode();
      if (node->attr().contains("value")) {
        MutateTensor(dice_, (*node->mutable_attr())["value"].mutable_tensor());
        return;
      }
    }
  }
  void RemoveNode() { nodes_->DeleteSubrange(dice_.Below(nodes_->size()), 1); }
  void CopyNode() {
    NodeDef copy = *RandomNode();
    copy.set_name(NewName());
    *nodes_->Add() = std::move(copy);
  }
  // A node of any op, most of whose inputs are constants made for it.
  void AddNode() {
    const OpDef& op = RandomOp();
    NodeDef node;
    node.set_op(op.name());
    for (const AttrDef& attr : op.attrs()) {
      if (!attr.default_value || dice_.OneIn(3))
        (*node.mutable_attr())[attr.name] = RandomAttr(dice_, attr, functions_);
    }
    for (const ArgDef& arg : op.inputs()) AddInputs(arg, &node);
    node.set_name(NewName());
    *nodes_->Add() = std::move(node);
  }

 private:
  const OpDef& RandomOp() {
    static const std::vector<const OpDef*> all = OpRegistry::Global().All();
    return *dice_.Pick(all);
  }
  std::string NewName() { return fmt::format("fuzz{}_{}", nodes_->size(), dice_.Below(1000)); }
  std::string RandomOutput() {
    if (function_ != nullptr && function_->signature().input_arg_size() > 0 && dice_.OneIn(3)) {
      return function_->signature()
          .input_arg(dice_.Below(function_->signature().input_arg_size()))
          .name();
    }
    const NodeDef& node = *RandomNode();
    const int index = dice_.OneIn(4) ? dice_.Below(3) : 0;
    if (function_ == nullptr)
      return index == 0 ? node.name() : fmt::format("{}:{}", node.name(), index);
    const OpDef* op = OpRegistry::Global().Find(node.op());
    const std::string arg =
        op == nullptr || op->outputs().empty() ? "output" : dice_.Pick(op->outputs()).name;
    return fmt::format("{}:{}:{}", node.name(), arg, index);
  }
  std::string NewConstant(DataType dtype) {
    NodeDef node;
    node.set_op("Const");
    node.set_name(NewName());
    (*node.mutable_attr())["dtype"].set_type(dtype);
    *(*node.mutable_attr())["value"].mutable_tensor() = RandomTensor(dice_, dtype);
    *nodes_->Add() = node;
    return function_ == nullptr ? node.name() : node.name() + ":output:0";
  }
  void AddInputs(const ArgDef& arg, NodeDef* node) {
    std::vector<DataType> types(1, static_cast<DataType>(arg.type));
    if (!arg.type_attr.empty())
      types[0] = node->attr().contains(arg.type_attr) ? node->attr().at(arg.type_attr).type()
                                                      : proto::DT_FLOAT;
    if (!arg.number_attr.empty() && node->attr().contains(arg.number_attr)) {
      types.resize(std::clamp<int64_t>(node->attr().at(arg.number_attr).i(), 0, 8), types[0]);
    }
    if (!arg.type_list_attr.empty()) {
      types.clear();
      if (!node->attr().contains(arg.type_list_attr)) return;
      for (int type : node->attr().at(arg.type_list_attr).list().type())
        types.push_back(static_cast<DataType>(type));
    }
    for (DataType type : types) {
      const bool constant =
          type != proto::DT_RESOURCE && type != proto::DT_VARIANT && !dice_.OneIn(4);
      node->add_input(constant || empty() ? NewConstant(type) : RandomOutput());
    }
  }

  Dice& dice_;
  google::protobuf::RepeatedPtrField<NodeDef>* nodes_;
  FunctionDef* function_ = nullptr;  // null = the graph itself
  std::vector<std::string> functions_;
};

}  // namespace

void MutateGraphDef(Dice& dice, GraphDef* def) {
  Body body(dice, def);
  if (body.empty()) return body.AddNode();
  switch (dice.Below(12)) {
    case 0:
    case 1:
      return body.ChangeInput();
    case 2:
    case 3:
      return body.ChangeAttr();
    case 4:
    case 5:
      return body.ChangeTensor();
    case 6:
      return body.ChangeOp();
    case 7:
      return body.RemoveNode();
    case 8:
      return body.CopyNode();
    default:
      return body.AddNode();
  }
}

}  // namespace sextant::fuzz
