// Gradients of If, Case and calls: nodes that run one of several functions.
//
// Idea: differentiate each branch by itself. The backward function of a branch captures tensors of
// its forward function; the forward node is replaced in place by one with further outputs ("slots")
// that carry them, and the gradient is a node of the same kind, with the same selector, whose
// branches are the backward functions.
//
//   y = If(p, x, then: exp(x) * x, else: x + 1)
//   becomes  y, s = If(p, x, then: (e * x, e = exp(x)), else: (x + 1, unused))
//   dx = If(p, [dy, x, s], then: dy * s * x + dy * s, else: dy)
//
// Invariants: the branches of a node have the same signature, so they share slots: the k-th kept
// tensor of a type takes the k-th slot of that type whatever the branch, and a branch with fewer
// fills the rest with constants that nobody reads. The backward branch that runs is the one whose
// forward branch ran, so it reads only what that one kept. What is an input or an output of the
// node already, or a constant, takes no slot. Handles, and what a v1 conditional inside of the
// branch may leave dead, are kept as optionals.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "sextant/graph/body_copy.h"
#include "sextant/graph/control_flow_gradients.h"
#include "sextant/graph/gradient_builder.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

namespace {

std::vector<FuncAttr> FunctionsOf(const Node& node) {
  const std::string& type = node.type();
  if (type == "If" || type == "StatelessIf") {
    return {node.attr<FuncAttr>("then_branch"), node.attr<FuncAttr>("else_branch")};
  }
  if (type == "Case" || type == "StatelessCase") {
    return node.attr<std::vector<FuncAttr>>("branches");
  }
  if (type == "PartitionedCall" || type == "StatefulPartitionedCall") {
    return {node.attr<FuncAttr>("f")};
  }
  return {FuncAttr{type, std::make_shared<AttrMap>(node.attrs())}};
}

void SetFunctions(const Node& node, std::vector<FuncAttr> functions, AttrMap& attrs) {
  const std::string& type = node.type();
  if (type == "If" || type == "StatelessIf") {
    SetAttr(attrs, "then_branch", functions[0]);
    SetAttr(attrs, "else_branch", functions[1]);
  } else if (type == "Case" || type == "StatelessCase") {
    SetAttr(attrs, "branches", std::move(functions));
  } else {
    SetAttr(attrs, "f", functions[0]);
  }
}

// A value of this type for the branches that do not compute it; nobody reads it.
Output Dummy(DType dtype) {
  if (dtype == DType::kVariant) return OpBuilder("OptionalNone").Build();
  return Const(Tensor::Zeros(dtype, Shape()), "unused");
}

// A tensor of the forward body that the backward one needs: the slot, an additional output, that
// holds it.
struct Kept {
  size_t slot = 0;
  bool wrapped = false;  // in an optional: handles, which have no dummy, and what may be dead
};

// One function of the node: its body to be changed, and the gradient graph that captures from it.
struct Branch {
  FunctionBody forward;
  FunctionBody backward;            // args: the gradients of the outputs
  std::vector<Gradient> gradients;  // by input of the node, without the selector
  std::unordered_map<Output, Kept> kept;
};

// A captured tensor of the backward body and the input of the backward node that brings it.
struct Binding {
  Output stand_in;
  size_t input = 0;
  bool wrapped = false;
};

class BranchDifferentiator {
 public:
  explicit BranchDifferentiator(GradientContext& context)
      : context_(context),
        node_(*context.node()),
        graph_(node_.graph()),
        functions_(FunctionsOf(node_)) {
    first_input_ = node_.op().name() == "If" || node_.op().name() == "StatelessIf" ||
                           node_.op().name() == "Case" || node_.op().name() == "StatelessCase"
                       ? 1
                       : 0;
    for (int i = first_input_; i < node_.num_inputs(); ++i) inputs_.push_back(node_.input(i));
    for (int i = 0; i < node_.num_outputs(); ++i) {
      if (context_.has_gradient(i)) outputs_.push_back(i);
    }
  }

  void Run() {
    for (int i : outputs_) output_gradients_.push_back(context_.grad(i));
    for (const FuncAttr& function : functions_) Differentiate(function);
    for (size_t i = 0; i < inputs_.size(); ++i) {
      for (const Branch& branch : branches_) {
        if (branch.gradients[i].none()) continue;
        results_.push_back(i);
        break;
      }
    }
    if (results_.empty()) return;
    for (Branch& branch : branches_) FinishResults(branch);
    for (Branch& branch : branches_) SortCaptures(branch);
    if (!slot_types_.empty()) RewriteForward();
    BuildBackward();
  }

 private:
  void Differentiate(const FuncAttr& function) {
    Branch branch;
    branch.forward = CopyBody(*BodyOf(graph_, function), graph_.functions(), inputs_);
    branch.backward.graph = std::make_unique<Graph>(branch.forward.graph.get());
    const GraphScope use(*branch.backward.graph);
    std::vector<Output> ys, xs;
    std::vector<Gradient> grad_ys;
    for (size_t k = 0; k < outputs_.size(); ++k) {
      const Output gradient = output_gradients_[k];
      ys.push_back(branch.forward.results[outputs_[k]]);
      grad_ys.push_back(AddArgument(branch.backward, gradient.dtype(), gradient.shape(), "grad"));
    }
    std::vector<size_t> wanted;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!context_.wanted(first_input_ + i)) continue;
      wanted.push_back(i);
      xs.push_back(branch.forward.args[i]);
    }
    branch.gradients.resize(inputs_.size());
    const std::vector<Gradient> gradients = BuildGradients(ys, xs, grad_ys);
    for (size_t k = 0; k < wanted.size(); ++k) branch.gradients[wanted[k]] = gradients[k];
    branches_.push_back(std::move(branch));
  }

  DType VariableType(size_t input) const {
    for (const Branch& branch : branches_) {
      const Gradient& gradient = branch.gradients[input];
      if (gradient.none()) continue;
      return (gradient.sparse() ? gradient.slices().values : gradient.dense()).dtype();
    }
    return DType::kInvalid;
  }

  // Every branch gives every result: zeros where it does not use the input.
  void FinishResults(Branch& branch) {
    const GraphScope use(*branch.backward.graph);
    for (size_t i : results_) {
      const Gradient& gradient = branch.gradients[i];
      const Output dense = gradient.none() ? ZeroGradient(branch.forward.args[i], VariableType(i))
                                           : gradient.dense();
      branch.backward.results.push_back(branch.backward.graph->Capture(dense));
    }
  }

  // Decides where each captured tensor comes from: an input or output that the node has already, or
  // a slot, an output it will have.
  void SortCaptures(Branch& branch) {
    std::map<DType, size_t> used;  // slots of each type taken by this branch
    const std::vector<bool> conditional = ConditionalNodes(*branch.forward.graph);
    const auto captures = branch.backward.graph->captures();
    for (const auto& [tensor, stand_in] : captures) {
      const auto& args = branch.forward.args;
      if (std::ranges::find(args, tensor) != args.end()) continue;
      const auto& results = branch.forward.results;
      if (std::ranges::find(results, tensor) != results.end()) continue;
      if (ConstantValue(tensor)) continue;
      const bool wrap = tensor.dtype() == DType::kResource || conditional[tensor.node()->id()];
      const DType type = wrap ? DType::kVariant : tensor.dtype();
      branch.kept[tensor] = {SlotOfType(type, used[type]++), wrap};
    }
  }

  size_t SlotOfType(DType type, size_t nth) {
    for (size_t slot = 0; slot < slot_types_.size(); ++slot) {
      if (slot_types_[slot] == type && nth-- == 0) return slot;
    }
    slot_types_.push_back(type);
    return slot_types_.size() - 1;
  }

  void RewriteForward() {
    const int num_outputs = node_.num_outputs();
    first_slot_ = num_outputs;
    std::vector<DType> types;
    std::vector<PartialShape> shapes;
    for (int i = 0; i < num_outputs; ++i) {
      types.push_back(node_.output_type(i));
      shapes.push_back(node_.output_shape(i));
    }
    types.insert(types.end(), slot_types_.begin(), slot_types_.end());
    std::vector<FuncAttr> functions;
    for (size_t b = 0; b < branches_.size(); ++b) {
      FunctionBody& body = branches_[b].forward;
      {
        const GraphScope use(*body.graph);
        std::vector<Output> slots(slot_types_.size());
        for (const auto& [tensor, stand_in] : branches_[b].backward.graph->captures()) {
          const auto it = branches_[b].kept.find(tensor);
          if (it == branches_[b].kept.end()) continue;
          slots[it->second.slot] = it->second.wrapped ? WrapIfLive(tensor) : tensor;
        }
        for (size_t s = 0; s < slots.size(); ++s) {
          if (!slots[s]) slots[s] = Dummy(slot_types_[s]);
          body.results.push_back(slots[s]);
          const PartialShape& shape = slots[s].shape();
          if (b == 0) {
            shapes.push_back(shape);
          } else {
            shapes[first_slot_ + s] = shapes[first_slot_ + s].RelaxWith(shape);
          }
        }
      }
      functions.push_back(AddFunction(CopyBody(body, body.graph->functions()),
                                      functions_[b].name + "_kept", graph_, CurrentGraph()));
    }
    NodeSpec spec;
    const bool call_by_name = graph_.functions().Find(node_.type()) != nullptr;
    spec.op = call_by_name ? graph_.FindOp("PartitionedCall") : &node_.op();
    spec.inputs.assign(node_.inputs().begin(), node_.inputs().end());
    spec.control_inputs.assign(node_.control_inputs().begin(), node_.control_inputs().end());
    if (call_by_name) {
      std::vector<DType> input_types;
      for (Output input : inputs_) input_types.push_back(RemoveRef(input.dtype()));
      spec.attrs = {{"Tin", input_types}};
    } else {
      spec.attrs = node_.attrs();
    }
    SetAttr(spec.attrs, "Tout", types);
    if (first_input_ == 1) SetAttr(spec.attrs, "output_shapes", shapes);
    SetFunctions(node_, std::move(functions), spec.attrs);
    graph_.Replace(&node_, std::move(spec));
    for (size_t i = 0; i < shapes.size(); ++i)
      node_.set_output_shape(static_cast<int>(i), shapes[i]);
  }

  // The tensor of the node's graph that holds what the branch captured, and the index among
  // backward inputs.
  size_t BackwardInput(Output outer) {
    const auto [it, fresh] = backward_index_.emplace(outer, backward_inputs_.size());
    if (fresh) backward_inputs_.push_back(outer);
    return it->second;
  }

  void BuildBackward() {
    backward_inputs_ = output_gradients_;
    // Which argument stands for each capture, for all branches before any is built: they share
    // arguments.
    std::vector<std::vector<Binding>> bindings(branches_.size());
    for (size_t b = 0; b < branches_.size(); ++b) {
      Branch& branch = branches_[b];
      for (const auto& [tensor, stand_in] : branch.backward.graph->captures()) {
        const Output outer = OuterTensor(branch, tensor);
        if (!outer) continue;
        const auto kept = branch.kept.find(tensor);
        const bool wrapped = kept != branch.kept.end() && kept->second.wrapped;
        bindings[b].push_back({stand_in, BackwardInput(outer), wrapped});
      }
    }
    std::vector<FuncAttr> functions;
    bool stateful = false;
    for (size_t b = 0; b < branches_.size(); ++b) {
      FunctionBody body = FinishBackward(branches_[b], bindings[b]);
      stateful = stateful || IsStateful(body);
      functions.push_back(
          AddFunction(std::move(body), functions_[b].name + "_grad", graph_, CurrentGraph()));
    }
    std::vector<DType> types;
    std::vector<PartialShape> shapes;
    for (size_t k = 0; k < results_.size(); ++k) {
      const Output input = inputs_[results_[k]];
      types.push_back(branches_[0].backward.results[k].dtype());
      shapes.push_back(input.dtype() == DType::kResource ? PartialShape() : input.shape());
    }
    const std::string& type = node_.type();
    const std::string kind = type.ends_with("If") ? "If" : type.ends_with("Case") ? "Case" : "Call";
    OpBuilder builder(kind == "Call" ? (stateful ? "StatefulPartitionedCall" : "PartitionedCall")
                                     : (stateful ? kind : "Stateless" + kind));
    if (first_input_ == 1) builder.Input(node_.input(0));
    builder.Input(backward_inputs_).Attr("Tout", types);
    AttrMap attrs;
    SetFunctions(node_, std::move(functions), attrs);
    for (auto& [name, value] : attrs) builder.Attr(name, value);
    if (first_input_ == 1) builder.Attr("output_shapes", shapes);
    Node* gradient = builder.BuildNode();
    for (size_t k = 0; k < results_.size(); ++k) {
      if (gradient->output_shape(k).fully_known() == false)
        gradient->set_output_shape(k, shapes[k]);
      context_.set(first_input_ + static_cast<int>(results_[k]),
                   gradient->output(static_cast<int>(k)));
    }
  }

  Output OuterTensor(const Branch& branch, Output tensor) const {
    const auto& args = branch.forward.args;
    if (const auto it = std::ranges::find(args, tensor); it != args.end()) {
      return inputs_[it - args.begin()];
    }
    if (const auto it = branch.kept.find(tensor); it != branch.kept.end()) {
      return node_.output(first_slot_ + static_cast<int>(it->second.slot));
    }
    const auto& results = branch.forward.results;
    if (const auto it = std::ranges::find(results, tensor); it != results.end()) {
      return node_.output(static_cast<int>(it - results.begin()));
    }
    return Output();  // a constant
  }

  FunctionBody FinishBackward(const Branch& branch, const std::vector<Binding>& bindings) {
    FunctionBody body;
    body.graph = std::make_unique<Graph>();
    body.graph->functions().AddAll(branch.backward.graph->functions());
    const GraphScope use(*body.graph);
    for (size_t i = 0; i < backward_inputs_.size(); ++i) {
      const Output input = backward_inputs_[i];
      AddArgument(body, RemoveRef(input.dtype()), input.shape(),
                  i < outputs_.size() ? "grad" : "kept",
                  input.node()->output_handle(input.index()));
    }
    GraphCopier copier(*branch.backward.graph, *body.graph);
    for (size_t i = 0; i < outputs_.size(); ++i) copier.Map(branch.backward.args[i], body.args[i]);
    for (const auto& [stand_in, input, wrapped] : bindings) {
      Output value = body.args[input];
      if (wrapped) {
        value = UnwrapIfLive(value, stand_in.dtype(), stand_in.shape());
      } else if (!value.shape().rank_known()) {
        value.node()->set_output_shape(0, stand_in.shape());
      }
      copier.Map(stand_in, value);
    }
    for (const auto& [tensor, stand_in] : branch.backward.graph->captures()) {
      if (OuterTensor(branch, tensor)) continue;
      copier.Map(stand_in, Const(*ConstantValue(tensor)));
    }
    for (Output result : branch.backward.results) body.results.push_back(copier.Copy(result));
    return CopyBody(body, body.graph->functions());
  }

  GradientContext& context_;
  Node& node_;
  Graph& graph_;  // of the forward node
  const std::vector<FuncAttr> functions_;
  int first_input_ = 0;  // 1 when input 0 selects the branch
  std::vector<Output> inputs_;
  std::vector<int> outputs_;              // those with a gradient
  std::vector<Output> output_gradients_;  // of outputs_
  std::vector<Branch> branches_;
  std::vector<size_t> results_;  // inputs that get a gradient
  std::vector<DType> slot_types_;
  int first_slot_ = 0;
  std::vector<Output> backward_inputs_;
  std::unordered_map<Output, size_t> backward_index_;
};

// The library may name the gradient of a function: it takes the arguments and the gradients of the
// results.
bool CallGivenGradient(GradientContext& context) {
  const Node& node = *context.node();
  const std::vector<FuncAttr> functions = FunctionsOf(node);
  const std::string* name = node.graph().functions().FindGradient(functions[0].name);
  if (!name || functions.size() != 1) return false;
  std::vector<Output> inputs(node.inputs().begin(), node.inputs().end());
  std::vector<DType> types;
  for (Output input : inputs) types.push_back(input.dtype());
  for (int i = 0; i < node.num_outputs(); ++i) inputs.push_back(context.grad(i));
  const std::vector<Output> gradients = OpBuilder("StatefulPartitionedCall")
                                            .Input(inputs)
                                            .Attr("Tout", types)
                                            .Attr("f", FuncAttr{*name, functions[0].attrs})
                                            .BuildAll();
  for (size_t i = 0; i < gradients.size(); ++i) context.set(static_cast<int>(i), gradients[i]);
  return true;
}

}  // namespace

void BranchGradient(GradientContext& context) {
  if (!CallGivenGradient(context)) BranchDifferentiator(context).Run();
}

}  // namespace sextant
