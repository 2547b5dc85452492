// Horizontal fusion of optimizer steps (multi-tensor apply). Updates join a group as they come in
// the order of the Plan. The group runs where its last member ran, so it is closed as soon as a
// node comes that waits for a member or touches a variable of one.
//
//   ApplyAdam w1        group 1
//   ApplyAdam w2        group 1: the same rule, scalars and device
//   r = Read w1         touches w1: group 1 is closed, _ApplyMany(w1, w2) stands before r
//   ApplyAdam w3        group 2
//
// Invariant: no update moves past a node that could tell. Scalars are the same when they are the
// same tensor, equal constants, or reads of one variable that nothing changes between them.
//
// Where a gradient is g + decay * w, as L2 regularisation makes it, and nobody else reads the sum,
// the group takes g and the decay: the addition happens in the same sweep.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/graph/device_name.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/pass.h"
#include "sextant/runtime/passes/variable_touches.h"

namespace sextant {
namespace {

constexpr std::string_view kPrefix = "ResourceApply";
// A group locks all its variables at once; ThreadSanitizer follows 64 locks of a thread.
constexpr size_t kMostVariables = 60;

// An op of the kind ResourceApply<rule>, its inputs sorted out.
struct Update {
  Node* node = nullptr;
  std::vector<Output> variables;
  Output grad;
  std::vector<Output> scalars;
  bool flag = false;
};

struct Group {
  std::vector<Update> members;
  std::vector<int> variables;
};

// What is added to the gradient of a variable: decay times the variable.
struct Decay {
  Output decay, rest;        // the gradient is rest + decay * variable
  std::vector<Node*> nodes;  // that the group takes the place of
};

Output SkipIdentity(Output output) {
  while (output.node()->type() == "Identity" && output.node()->control_inputs().empty()) {
    output = output.node()->input(0);
  }
  return output;
}

class UpdateFuser {
 public:
  explicit UpdateFuser(Graph& graph)
      : graph_(graph),
        order_(TopologicalOrder(graph)),
        touches_(order_),
        place_(order_.size()),
        num_readers_(order_.size()) {
    for (size_t i = 0; i < order_.size(); ++i) {
      place_[order_[i]->id()] = i;
      for (const Output& input : order_[i]->inputs()) ++num_readers_[input.node()->id()];
      for (const Node* control : order_[i]->control_inputs()) ++num_readers_[control->id()];
    }
  }

  void Run() {
    for (Node* node : order_) {
      CloseGroupsSeenBy(*node);
      Update update;
      if (Parse(node, &update)) Join(std::move(update));
    }
    while (!open_.empty()) Close(open_.begin()->first);
    Redirect();
  }

 private:
  // ---- groups

  void CloseGroupsSeenBy(const Node& node) {
    if (open_.empty()) return;
    if (touches_.MayTouchAll(node)) {
      while (!open_.empty()) Close(open_.begin()->first);
      return;
    }
    for (const Node* control : node.control_inputs()) {
      if (const auto it = group_of_member_.find(control); it != group_of_member_.end()) {
        Close(std::string(it->second));
      }
    }
    for (const int variable : touches_.TouchedBy(node)) {
      if (const auto it = group_of_variable_.find(variable); it != group_of_variable_.end()) {
        Close(std::string(it->second));
      }
    }
  }

  void Join(Update update) {
    const std::string key = Key(update);
    auto found = open_.find(key);
    if (found != open_.end() &&
        (found->second.variables.size() + update.variables.size() > kMostVariables ||
         !SameReads(found->second.members.front(), update))) {
      Close(key);
      found = open_.end();
    }
    Group& group = open_[key];
    group_of_member_[update.node] = key;
    for (const Output& handle : update.variables) {
      const int variable = touches_.VariableOf(handle);
      group.variables.push_back(variable);
      group_of_variable_[variable] = key;
    }
    group.members.push_back(std::move(update));
  }

  void Close(const std::string& key) {
    Group group = std::move(open_.at(key));
    open_.erase(key);
    for (const Update& member : group.members) group_of_member_.erase(member.node);
    for (const int variable : group.variables) group_of_variable_.erase(variable);
    Rewrite(group);
  }

  // ---- updates

  bool Parse(Node* node, Update* update) const {
    if (!node->type().starts_with(kPrefix) || touches_.MayTouchAll(*node)) return false;
    if (!node->device().empty() && DeviceName::Parse(node->device()).type == "GPU") return false;
    const DType dtype = node->attr<DType>("T");
    if (dtype != DType::kFloat && dtype != DType::kDouble) return false;
    if (KernelRegistry::Global().Find(*node, "CPU") == nullptr) return false;
    update->node = node;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const std::string& name = node->op().inputs()[i].name;
      const Output input = node->input(i);
      if (input.dtype() == DType::kResource) {
        update->variables.push_back(input);
      } else if (name == "grad" || name == "delta") {
        update->grad = input;
      } else {
        update->scalars.push_back(input);
      }
    }
    for (const AttrDef& attr : node->op().attrs()) {
      if (attr.type == "bool" && attr.name != "use_locking")
        update->flag = node->attr<bool>(attr.name);
    }
    return true;
  }

  // Equal for updates that may share a group.
  std::string Key(const Update& update) const {
    std::string key = fmt::format("{} {} {} {}", update.node->type(),
                                  static_cast<int>(update.node->attr<DType>("T")), update.flag,
                                  update.node->device());
    for (const Output& scalar : update.scalars) {
      const Output source = SkipIdentity(scalar);
      const int variable = VariableRead(source);
      if (variable != VariableTouches::kUnknown) {
        key += fmt::format(" read {}", variable);
      } else if (source.node()->type() == "Const" && IsPlain(source.dtype())) {
        const Tensor& value = source.node()->attr<Tensor>("value");
        key += " const " + value.shape().ToString();
        key.append(static_cast<const char*>(value.raw_data()), value.bytes());
      } else {
        key += fmt::format(" tensor {}:{}", source.node()->id(), source.index());
      }
    }
    return key;
  }

  // The variable whose value the output is, or kUnknown.
  int VariableRead(Output output) const {
    const Node& node = *output.node();
    return node.type() == "ReadVariableOp" ? touches_.VariableOf(node.input(0))
                                           : VariableTouches::kUnknown;
  }

  // Whether scalars that are read from variables were read without a change in between.
  bool SameReads(const Update& a, const Update& b) const {
    for (size_t i = 0; i < a.scalars.size(); ++i) {
      const Output read_a = SkipIdentity(a.scalars[i]), read_b = SkipIdentity(b.scalars[i]);
      const int variable = VariableRead(read_a);
      if (variable == VariableTouches::kUnknown) continue;
      if (touches_.ChangedBetween(variable, place_[read_a.node()->id()],
                                  place_[read_b.node()->id()])) {
        return false;
      }
    }
    return true;
  }

  // ---- decay

  // Whether the only reader of the node's one output is that which asks.
  bool IsPrivate(const Node& node) const {
    return node.num_outputs() == 1 && num_readers_[node.id()] == 1;
  }

  // The node behind those Identities that nobody else reads.
  Node* TakeIdentities(Output output, std::vector<Node*>* taken) const {
    Node* node = output.node();
    for (; node->type() == "Identity" && IsPrivate(*node); node = node->input(0).node()) {
      taken->push_back(node);
    }
    return node;
  }

  // The decay in an update's gradient. It will be computed from the variable as the update finds
  // it, so nothing may change that after it was read.
  bool FindDecay(const Update& update, Decay* decay) const {
    std::vector<Node*> taken;
    Node* sum = TakeIdentities(update.grad, &taken);
    const std::string& type = sum->type();
    if ((type != "AddN" && type != "AddV2" && type != "Add") || sum->num_inputs() != 2 ||
        !IsPrivate(*sum)) {
      return false;
    }
    for (int side = 0; side < 2; ++side) {
      const Output rest = sum->input(1 - side);
      decay->nodes = taken;
      Node* product = TakeIdentities(sum->input(side), &decay->nodes);
      if (product->type() != "Mul" || !IsPrivate(*product)) continue;
      const PartialShape& shape = product->output_shape(0);
      if (!shape.fully_known() || !(rest.shape() == shape)) continue;
      for (int factor = 0; factor < 2; ++factor) {
        const Output scalar = product->input(factor);
        const Output value = SkipIdentity(product->input(1 - factor));
        if (!(scalar.shape() == PartialShape(Shape())) || !(value.shape() == shape)) continue;
        const int variable = VariableRead(value);
        if (variable == VariableTouches::kUnknown ||
            variable != touches_.VariableOf(update.variables[0]) ||
            touches_.ChangedBetween(variable, place_[value.node()->id()],
                                    place_[update.node->id()])) {
          continue;
        }
        decay->decay = scalar;
        decay->rest = rest;
        decay->nodes.insert(decay->nodes.end(), {sum, product});
        return true;
      }
    }
    return false;
  }

  // ---- rewriting

  void Rewrite(const Group& group) {
    std::vector<Output> variables, grads, decays;
    std::vector<int64_t> decay_of;
    std::vector<Node*> controls;
    const auto add_controls = [&](const Node& node) {
      for (Node* control : node.control_inputs()) {
        if (std::ranges::find(controls, control) == controls.end()) controls.push_back(control);
      }
    };
    for (const Update& member : group.members) {
      variables.insert(variables.end(), member.variables.begin(), member.variables.end());
      add_controls(*member.node);
      Decay decay;
      if (!FindDecay(member, &decay)) {
        grads.push_back(member.grad);
        decay_of.push_back(-1);
        continue;
      }
      for (const Node* node : decay.nodes) add_controls(*node);
      grads.push_back(decay.rest);
      auto known = std::ranges::find(decays, decay.decay);
      if (known == decays.end()) known = decays.insert(known, decay.decay);
      decay_of.push_back(known - decays.begin());
    }
    if (group.members.size() == 1 && decays.empty()) return;

    const Update& first = group.members.front();
    Node* last = group.members.back().node;
    NodeSpec spec;
    spec.op = graph_.FindOp("_ApplyMany");
    spec.control_inputs = std::move(controls);
    SetAttr(spec.attrs, "N", static_cast<int64_t>(variables.size()));
    SetAttr(spec.attrs, "M", static_cast<int64_t>(grads.size()));
    SetAttr(spec.attrs, "K", static_cast<int64_t>(decays.size()));
    SetAttr(spec.attrs, "T", last->attr<DType>("T"));
    std::vector<DType> types;
    for (const Output& scalar : first.scalars) types.push_back(scalar.dtype());
    SetAttr(spec.attrs, "Tscalars", types);
    SetAttr(spec.attrs, "rule", last->type().substr(kPrefix.size()));
    SetAttr(spec.attrs, "flag", first.flag);
    SetAttr(spec.attrs, "decay_of", decay_of);
    for (const auto& list : {variables, grads, first.scalars, decays}) {
      spec.inputs.insert(spec.inputs.end(), list.begin(), list.end());
    }
    spec.device = last->device();
    for (const Update& member : group.members) {
      if (member.node != last) replaced_[member.node] = last;
    }
    graph_.Replace(last, std::move(spec));
  }

  // Who waited for a member waits for its group.
  void Redirect() {
    if (replaced_.empty()) return;
    for (Node* node : order_) {
      std::vector<Node*> controls;
      bool changed = false;
      for (Node* control : node->control_inputs()) {
        const auto it = replaced_.find(control);
        changed = changed || it != replaced_.end();
        Node* now = it == replaced_.end() ? control : it->second;
        if (std::ranges::find(controls, now) == controls.end()) controls.push_back(now);
      }
      if (changed) graph_.SetControlInputs(node, std::move(controls));
    }
  }

  Graph& graph_;
  const std::vector<Node*> order_;
  const VariableTouches touches_;
  std::vector<size_t> place_;     // in order_, by node id
  std::vector<int> num_readers_;  // edges that leave a node, by id
  std::unordered_map<std::string, Group> open_;
  std::unordered_map<const Node*, std::string> group_of_member_;
  std::unordered_map<int, std::string> group_of_variable_;
  std::unordered_map<const Node*, Node*> replaced_;
};

}  // namespace

void FuseUpdates(Graph& graph, const Device&) {
  if (graph.FindOp("_ApplyMany") == nullptr) return;
  bool any = false;
  for (int id = 0; id < graph.num_nodes() && !any; ++id) {
    any = graph.node(id)->type().starts_with(kPrefix);
  }
  if (any) UpdateFuser(graph).Run();
}

}  // namespace sextant
