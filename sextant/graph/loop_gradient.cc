// The gradient of While: a second loop that runs the iterations backwards (reverse-mode
// differentiation with a tape; Yu et al., "Dynamic Control Flow in Large-Scale Machine Learning",
// EuroSys 2018).
//
// Idea: differentiate a copy of the loop's body into a backward body. What that captures of the
// forward body is one of three things: a constant, which is copied; a loop invariant, which the
// backward loop takes as an input; or a value of the iteration, which the forward loop must keep.
// The forward While is replaced in place by one that also counts its iterations and pushes each
// kept value on a TensorList; the backward While counts down and pops them.
//
//   forward:   while (x < 10) x = x * w          backward:  while (n > 0) {
//   becomes    while (x < 10) {                    x = pop(xs); n -= 1;
//                push(xs, x); n += 1; x = x * w;    dw += dx * x;  dx = dx * w; }
//              }
//
// Invariant: before backward iteration k the lists hold the values of forward iterations 1 … k, and
// the carried gradients are those of the loop's variables after forward iteration k. Gradients of
// invariant inputs (w) are sums over all iterations. Values that a conditional of the body may
// leave dead are kept as optionals.
#include <algorithm>
#include <functional>
#include <set>

#include "sextant/graph/body_copy.h"
#include "sextant/graph/control_flow_gradients.h"
#include "sextant/graph/gradient_builder.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

namespace {

Output StripIdentity(Output tensor) {
  while (tensor.node()->type() == "Identity" && tensor.node()->control_inputs().empty()) {
    tensor = tensor.node()->input(0);
  }
  return tensor;
}

// Reads only the shape of what it is given: better done in the forward loop than kept for.
bool ReadsShapeOnly(const Node& node) {
  const std::string& type = node.type();
  return type == "Shape" || type == "Size" || type == "Rank" || type == "TensorListLength" ||
         type == "TensorListElementShape";
}

Output ShapeAsTensor(const PartialShape& shape) {
  if (!shape.rank_known()) return Const(Tensor(-1), "element_shape");
  std::vector<int32_t> sizes(shape.dims().begin(), shape.dims().end());
  return Const(Tensor::FromVector(sizes), "element_shape");
}

class LoopDifferentiator {
 public:
  explicit LoopDifferentiator(GradientContext& context)
      : context_(context),
        node_(*context.node()),
        graph_(node_.graph()),
        num_vars_(node_.num_inputs()) {
    std::vector<Output> shapes;
    for (int i = 0; i < num_vars_; ++i) shapes.push_back(node_.output(i));
    const FuncAttr& body = node_.attr<FuncAttr>("body");
    forward_ = CopyBody(*BodyOf(graph_, body), graph_.functions(), shapes);
    for (int i = 0; i < num_vars_; ++i) {
      invariant_.push_back(StripIdentity(forward_.results[i]) == forward_.args[i]);
    }
  }

  void Run() {
    FindCarried();
    if (!carried_.empty()) {
      DifferentiateBody();
      KeepCaptures();
      RewriteForward();
      BuildBackward();
    }
    for (int i = 0; i < num_vars_; ++i) {
      if (invariant_[i] && context_.input_gradients()[i].none())
        context_.set(i, context_.gradient(i));
    }
  }

 private:
  // A captured tensor of the forward body, and the tensor of the backward body it stands for.
  struct Kept {
    Output tensor, stand_in;
    Output optional;  // wraps the tensor when it may be dead

    Output pushed() const { return optional ? optional : tensor; }
  };

  // The variables whose gradient the backward loop carries: those that matter for an output with a
  // gradient and depend on a wanted input.
  void FindCarried() {
    std::vector<std::vector<bool>> depends;
    for (int j = 0; j < num_vars_; ++j) {
      depends.push_back(ReachedInputs(forward_.results[j], forward_.args));
    }
    std::vector<bool> matters(num_vars_), reached(num_vars_);
    for (int i = 0; i < num_vars_; ++i) {
      matters[i] = context_.has_gradient(i) && !invariant_[i];
      reached[i] = context_.wanted(i);
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (int j = 0; j < num_vars_; ++j) {
        for (int i = 0; i < num_vars_; ++i) {
          if (!depends[j][i] || !IsDifferentiable(forward_.args[i].dtype())) continue;
          if (matters[j] && !matters[i] && !invariant_[i]) matters[i] = changed = true;
          if (reached[i] && !reached[j] && !invariant_[j]) reached[j] = changed = true;
        }
      }
    }
    for (int i = 0; i < num_vars_; ++i) {
      const DType dtype = forward_.args[i].dtype();
      if (matters[i] && reached[i] && IsDifferentiable(dtype) && dtype != DType::kResource) {
        carried_.push_back(i);
      }
    }
  }

  void DifferentiateBody() {
    backward_.graph = std::make_unique<Graph>(forward_.graph.get());
    const GraphScope use(*backward_.graph);
    std::vector<Output> ys, xs;
    std::vector<Gradient> grad_ys;
    for (int j : carried_) {
      ys.push_back(forward_.results[j]);
      xs.push_back(forward_.args[j]);
      grad_ys.push_back(
          AddArgument(backward_, forward_.args[j].dtype(), forward_.args[j].shape(), "grad"));
    }
    std::vector<int> constant;
    for (int i = 0; i < num_vars_; ++i) {
      if (!invariant_[i] || !context_.wanted(i)) continue;
      constant.push_back(i);
      xs.push_back(forward_.args[i]);
    }
    const std::vector<Gradient> gradients = BuildGradients(ys, xs, grad_ys);
    for (size_t k = 0; k < xs.size(); ++k) {
      const Gradient& gradient = gradients[k];
      if (k >= carried_.size() && gradient.none()) continue;
      const Output dense = gradient.none() ? ZeroGradient(xs[k]) : gradient.dense();
      backward_.results.push_back(backward_.graph->Capture(dense));
      if (k >= carried_.size()) summed_.push_back(constant[k - carried_.size()]);
    }
  }

  int InvariantIndex(Output tensor) const {
    tensor = StripIdentity(tensor);
    const auto it = std::ranges::find(forward_.args, tensor);
    if (it == forward_.args.end()) return -1;
    const int i = static_cast<int>(it - forward_.args.begin());
    return invariant_[i] ? i : -1;
  }

  void Keep(Output tensor, Output stand_in) {
    if (const auto value = ConstantValue(tensor)) {
      constants_.emplace_back(stand_in, *value);
    } else if (const int i = InvariantIndex(tensor); i >= 0) {
      invariants_.emplace_back(i, stand_in);
    } else {
      kept_.push_back({tensor, stand_in, {}});
    }
  }

  // Sorts what the backward body captured into constants, loop invariants and what must be kept.
  void KeepCaptures() {
    std::unordered_map<Output, std::vector<Node*>> users;
    for (int i = 0; i < backward_.graph->num_nodes(); ++i) {
      Node* node = backward_.graph->node(i);
      for (Output input : node->inputs()) users[input].push_back(node);
    }
    for (Output result : backward_.results) users[result].push_back(nullptr);
    const auto captures = backward_.graph->captures();
    for (const auto& [tensor, stand_in] : captures) {
      const std::vector<Node*>& readers = users[stand_in];
      const bool shape_only = std::ranges::all_of(
          readers, [](const Node* node) { return node != nullptr && ReadsShapeOnly(*node); });
      if (!shape_only || InvariantIndex(tensor) >= 0) {
        Keep(tensor, stand_in);
        continue;
      }
      const GraphScope use(*forward_.graph);
      for (const Node* reader : readers) {
        OpBuilder builder(reader->type());
        builder.Input(tensor);
        for (const auto& [name, value] : reader->attrs()) builder.Attr(name, value);
        Keep(builder.Build(), reader->output(0));
      }
    }
  }

  // The forward loop counts iterations and pushes the kept tensors on lists.
  void RewriteForward() {
    const std::vector<bool> conditional = ConditionalNodes(*forward_.graph);
    for (Kept& kept : kept_) {
      const GraphScope use(*forward_.graph);
      if (conditional[kept.tensor.node()->id()]) kept.optional = WrapIfLive(kept.tensor);
    }
    std::vector<Output> initial(node_.inputs().begin(), node_.inputs().end());
    {
      const GraphScope use(graph_);
      const DeviceScope on(node_.device());  // lists cannot leave the task of the loop
      const NameScope scope(node_.name() + "_kept");
      initial.push_back(Const(Tensor(0), "count"));
      for (const Kept& kept : kept_) {
        initial.push_back(OpBuilder("EmptyTensorList")
                              .Input(ShapeAsTensor(kept.pushed().shape()))
                              .Input(Const(Tensor(-1), "max_num_elements"))
                              .Attr("element_dtype", kept.pushed().dtype())
                              .Build());
      }
    }
    FunctionBody condition =
        CopyBody(*BodyOf(graph_, node_.attr<FuncAttr>("cond")), graph_.functions());
    const auto add_argument = [&](DType dtype, const char* name) {
      AddArgument(condition, dtype, Shape(), name);
      return AddArgument(forward_, dtype, Shape(), name);
    };
    {
      const GraphScope use(*forward_.graph);
      const Output count = add_argument(DType::kInt32, "count");
      forward_.results.push_back(
          OpBuilder("AddV2").Input(count).Input(Const(Tensor(1), "one")).Build());
      for (const Kept& kept : kept_) {
        const Output list = add_argument(DType::kVariant, "kept");
        forward_.results.push_back(
            OpBuilder("TensorListPushBack").Input(list).Input(kept.pushed()).Build());
      }
    }
    Graph& current = CurrentGraph();
    const std::string body_name = node_.attr<FuncAttr>("body").name + "_kept";
    const std::string cond_name = node_.attr<FuncAttr>("cond").name + "_kept";
    NodeSpec spec;
    spec.op = &node_.op();
    spec.control_inputs.assign(node_.control_inputs().begin(), node_.control_inputs().end());
    spec.attrs = node_.attrs();
    SetAttr(
        spec.attrs, "body",
        AddFunction(CopyBody(forward_, forward_.graph->functions()), body_name, graph_, current));
    SetAttr(spec.attrs, "cond", AddFunction(std::move(condition), cond_name, graph_, current));
    std::vector<DType> types;
    std::vector<PartialShape> shapes;
    for (size_t i = 0; i < initial.size(); ++i) {
      types.push_back(RemoveRef(initial[i].dtype()));
      shapes.push_back(i < static_cast<size_t>(num_vars_) ? node_.output_shape(i) : Shape());
    }
    SetAttr(spec.attrs, "T", types);
    SetAttr(spec.attrs, "output_shapes", shapes);
    spec.inputs = std::move(initial);
    graph_.Replace(&node_, std::move(spec));
  }

  // Variables of the backward loop: iterations to go, the gradients carried, the sums for invariant
  // inputs, the lists, the invariant inputs themselves.
  void BuildBackward() {
    std::vector<Output> initial = {node_.output(num_vars_)};
    std::vector<PartialShape> shapes = {Shape()};
    for (int j : carried_) {
      initial.push_back(context_.grad(j));
      shapes.push_back(node_.output_shape(j));
    }
    for (size_t k = 0; k < summed_.size(); ++k) {
      const int i = summed_[k];
      const DType dtype = backward_.results[carried_.size() + k].dtype();
      initial.push_back(context_.has_gradient(i) ? context_.gradient(i).dense()
                                                 : ZeroGradient(node_.input(i), dtype));
      const bool handle = node_.input(i).dtype() == DType::kResource;
      shapes.push_back(handle ? PartialShape() : node_.input(i).shape());
    }
    const size_t first_list = initial.size();
    for (size_t k = 0; k < kept_.size(); ++k) {
      initial.push_back(node_.output(num_vars_ + 1 + static_cast<int>(k)));
      shapes.push_back(Shape());
    }
    std::vector<int> used;  // invariants, each once
    for (const auto& [i, stand_in] : invariants_) {
      if (std::ranges::find(used, i) != used.end()) continue;
      used.push_back(i);
      initial.push_back(node_.input(i));
      shapes.push_back(node_.input(i).shape());
    }
    FunctionBody body = BackwardBody(initial, shapes, first_list, used);
    FunctionBody condition = BackwardCondition(initial, shapes);
    const bool stateful = IsStateful(body);
    Graph& current = CurrentGraph();
    const std::string name = node_.attr<FuncAttr>("body").name;
    Node* loop =
        OpBuilder(stateful ? "While" : "StatelessWhile")
            .Input(initial)
            .Attr("body", AddFunction(std::move(body), name + "_grad", graph_, current))
            .Attr("cond", AddFunction(std::move(condition), name + "_grad_cond", graph_, current))
            .Attr("output_shapes", shapes)
            .Attr("parallel_iterations", node_.attr<int64_t>("parallel_iterations"))
            .BuildNode();
    for (size_t k = 0; k < carried_.size(); ++k) {
      context_.set(carried_[k], loop->output(static_cast<int>(1 + k)));
    }
    for (size_t k = 0; k < summed_.size(); ++k) {
      context_.set(summed_[k], loop->output(static_cast<int>(1 + carried_.size() + k)));
    }
  }

  void AddArguments(FunctionBody& body, const std::vector<Output>& initial,
                    const std::vector<PartialShape>& shapes) const {
    for (size_t i = 0; i < initial.size(); ++i) {
      const Output value = initial[i];
      AddArgument(body, RemoveRef(value.dtype()), shapes[i], "var",
                  value.node()->output_handle(value.index()));
    }
  }

  FunctionBody BackwardCondition(const std::vector<Output>& initial,
                                 const std::vector<PartialShape>& shapes) const {
    FunctionBody body;
    body.graph = std::make_unique<Graph>();
    const GraphScope use(*body.graph);
    AddArguments(body, initial, shapes);
    body.results = {
        OpBuilder("Greater").Input(body.args[0]).Input(Const(Tensor(0), "zero")).Build()};
    return body;
  }

  FunctionBody BackwardBody(const std::vector<Output>& initial,
                            const std::vector<PartialShape>& shapes, size_t first_list,
                            const std::vector<int>& used) {
    FunctionBody body;
    body.graph = std::make_unique<Graph>();
    body.graph->functions().AddAll(backward_.graph->functions());
    const GraphScope use(*body.graph);
    AddArguments(body, initial, shapes);
    GraphCopier copier(*backward_.graph, *body.graph);
    for (size_t k = 0; k < carried_.size(); ++k) copier.Map(backward_.args[k], body.args[1 + k]);
    for (const auto& [stand_in, value] : constants_) copier.Map(stand_in, Const(value));
    const size_t first_invariant = first_list + kept_.size();
    for (const auto& [i, stand_in] : invariants_) {
      const size_t k = std::ranges::find(used, i) - used.begin();
      copier.Map(stand_in, body.args[first_invariant + k]);
    }
    std::vector<Output> lists;
    for (size_t k = 0; k < kept_.size(); ++k) {
      const Kept& kept = kept_[k];
      const auto popped = OpBuilder("TensorListPopBack")
                              .Input(body.args[first_list + k])
                              .Input(ShapeAsTensor(kept.pushed().shape()))
                              .Attr("element_dtype", kept.pushed().dtype())
                              .BuildAll();
      lists.push_back(popped[0]);
      Output value = popped[1];
      if (kept.optional) value = UnwrapIfLive(value, kept.tensor.dtype(), kept.tensor.shape());
      if (const HandleShape* handle = kept.tensor.node()->output_handle(kept.tensor.index())) {
        value.node()->set_output_handle(value.index(), *handle);
      }
      copier.Map(kept.stand_in, value);
    }
    body.results.push_back(
        OpBuilder("Sub").Input(body.args[0]).Input(Const(Tensor(1), "one")).Build());
    for (size_t k = 0; k < backward_.results.size(); ++k) {
      Output gradient = copier.Copy(backward_.results[k]);
      if (k >= carried_.size()) {
        gradient = OpBuilder("AddN").Input({body.args[1 + k], gradient}).Build();
      }
      body.results.push_back(gradient);
    }
    body.results.insert(body.results.end(), lists.begin(), lists.end());
    body.results.insert(body.results.end(), body.args.begin() + first_invariant, body.args.end());
    return CopyBody(body, body.graph->functions());
  }

  GradientContext& context_;
  Node& node_;
  Graph& graph_;  // of the forward loop
  const int num_vars_;
  FunctionBody forward_;  // a copy of the body, to be changed
  FunctionBody
      backward_;  // captures from forward_; args: gradients of carried_; results: carried_, summed_
  std::vector<bool> invariant_;  // by variable: the body returns it as it came
  std::vector<int> carried_;     // variables whose gradient goes from iteration to iteration
  std::vector<int> summed_;      // invariants whose gradient is the sum over all iterations
  std::vector<Kept> kept_;
  std::vector<std::pair<Output, Tensor>> constants_;
  std::vector<std::pair<int, Output>> invariants_;
};

}  // namespace

void LoopGradient(GradientContext& context) { LoopDifferentiator(context).Run(); }

}  // namespace sextant
