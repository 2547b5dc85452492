// Reverse-mode differentiation, as new nodes of the same graph. Three steps, each linear in the
// part of the graph that the ys are computed from:
//
//   1. order: its nodes, inputs before users (a depth-first search without recursion).
//   2. wanted: forwards, a tensor is wanted when it is an x or is computed from one; only nodes
//      with a wanted input pass gradients on.
//   3. accumulate: backwards, the gradient function of each such node turns the gradients of its
//      outputs into those of its inputs, where they wait until the node that made them is reached.
//
//   x ─→ a = Square ─┐            dy        dy/da ─→ 2x · dy/da ─┐
//   x ─→ b = Neg ────┴→ y = Add         ⇒   dy/db ─→    -dy/db ──┴→ sum = dy/dx
//
// Invariant: when a node is reached, all users of its outputs have been, so the parts of each
// output's gradient are complete and are summed once. No gradient is not a gradient of zeros: it
// costs no node. v1 loops are made While nodes before, whose gradient is a loop backwards
// (loop_gradient.cc).
//
// Baydin et al., Automatic differentiation in machine learning: a survey, 2018.
#include "sextant/graph/gradients.h"

#include <algorithm>
#include <memory>

#include "sextant/graph/control_flow_gradients.h"
#include "sextant/graph/gradient_builder.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/passes/structure_loops.h"
#include "sextant/graph/scope.h"

namespace sextant {

namespace {

thread_local const std::string* gradient_source = nullptr;

// The tensors of a graph, numbered, and the nodes that lie between some of them.
class Paths {
 public:
  explicit Paths(const Graph& graph) : first_tensor_(graph.num_nodes() + 1) {
    for (int i = 0; i < graph.num_nodes(); ++i) {
      first_tensor_[i + 1] = first_tensor_[i] + graph.node(i)->num_outputs();
    }
    visited_.resize(graph.num_nodes());
  }

  int num_tensors() const { return first_tensor_.back(); }
  int Number(Output tensor) const { return first_tensor_[tensor.node()->id()] + tensor.index(); }

  // Appends the nodes that "tensor" is computed from, itself included, inputs before users.
  void Visit(Output tensor, std::vector<Node*>& order) {
    if (Enter(tensor)) stack_.emplace_back(tensor.node(), 0);
    while (!stack_.empty()) {
      auto& [node, next] = stack_.back();
      if (next == node->num_inputs()) {
        order.push_back(node);
        stack_.pop_back();
        continue;
      }
      const Output input = node->input(next++);
      if (Enter(input)) stack_.emplace_back(input.node(), 0);
    }
  }

 private:
  bool Enter(Output tensor) {
    if (!IsDifferentiable(RemoveRef(tensor.dtype()))) return false;
    const int id = tensor.node()->id();
    if (visited_[id]) return false;
    visited_[id] = true;
    return true;
  }

  std::vector<int> first_tensor_;
  std::vector<bool> visited_;
  std::vector<std::pair<Node*, int>> stack_;
};

class Builder {
 public:
  Builder(Graph& graph, const std::vector<Output>& xs, const std::vector<Output>& stop_gradients)
      : graph_(graph),
        paths_(graph),
        wanted_(paths_.num_tensors()),
        stop_(paths_.num_tensors()),
        passes_(graph.num_nodes()),
        parts_(paths_.num_tensors()) {
    for (Output x : xs) wanted_[paths_.Number(x)] = true;
    for (Output tensor : stop_gradients) stop_[paths_.Number(tensor)] = true;
  }

  void Start(Output y, const Gradient& gradient) {
    paths_.Visit(y, order_);
    parts_[paths_.Number(y)].push_back(gradient);
  }

  void Run() {
    for (Node* node : order_) MarkWanted(node);
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      if (passes_[(*node)->id()]) Differentiate(*node);
    }
  }

  Gradient Result(Output x) { return Sum(x); }

 private:
  // A tensor is wanted when it is an x or computed from one; a node passes gradients on when an
  // input is.
  void MarkWanted(Node* node) {
    if (!node->op().not_differentiable().empty()) return;
    const bool passes = std::ranges::any_of(node->inputs(), [&](Output input) {
      return IsDifferentiable(RemoveRef(input.dtype())) && wanted_[paths_.Number(input)];
    });
    if (!passes) return;
    passes_[node->id()] = true;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const int number = paths_.Number(node->output(i));
      if (!stop_[number]) wanted_[number] = true;
    }
  }

  const Gradient& Sum(Output tensor) {
    std::vector<Gradient>& parts = parts_[paths_.Number(tensor)];
    if (parts.size() != 1) parts = {SumGradients(parts)};
    return parts[0];
  }

  void Differentiate(Node* node) {
    std::unique_ptr<DeviceScope> device;
    if (!node->device().empty()) device = std::make_unique<DeviceScope>(node->device());
    const NameScope scope(node->name() + "_grad");
    std::vector<Gradient> gradients(node->num_outputs());
    bool any = false;
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Output output = node->output(i);
      if (stop_[paths_.Number(output)] || parts_[paths_.Number(output)].empty()) continue;
      gradients[i] = Sum(output);
      any = any || !gradients[i].none();
    }
    if (!any) return;
    std::vector<bool> wanted;
    for (Output input : node->inputs()) {
      wanted.push_back(IsDifferentiable(RemoveRef(input.dtype())) && wanted_[paths_.Number(input)]);
    }
    const std::vector<Output> inputs(node->inputs().begin(), node->inputs().end());
    GradientContext context(node, std::move(gradients));
    context.set_wanted(wanted);
    Call(context);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Gradient& gradient = context.input_gradients()[i];
      if (!wanted[i] || gradient.none()) continue;
      CheckType(*node, static_cast<int>(i), inputs[i].dtype(), gradient);
      parts_[paths_.Number(inputs[i])].push_back(gradient);
    }
  }

  void Call(GradientContext& context) {
    const Node& node = *context.node();
    const OpDef& op = node.op();
    if (op.gradient()) return op.gradient()(context);
    if (!op.gradient_forbidden().empty()) {
      throw InvalidArgument("[{} {}] may not be differentiated: {}", op.name(), node.name(),
                            op.gradient_forbidden());
    }
    if (graph_.functions().Find(op.name())) return BranchGradient(context);
    throw Unimplemented("[{} {}] no gradient is defined for this op", op.name(), node.name());
  }

  static void CheckType(const Node& node, int i, DType input, const Gradient& gradient) {
    if (RemoveRef(input) == DType::kResource || gradient.sparse()) return;
    const DType given = gradient.dense().dtype();
    if (given == RemoveRef(input)) return;
    throw Internal("[{} {}] its gradient gave {} for input {}, which is {}", node.type(),
                   node.name(), DTypeName(given), i, DTypeName(input));
  }

  Graph& graph_;
  Paths paths_;
  std::vector<bool> wanted_, stop_;           // by tensor
  std::vector<bool> passes_;                  // by node
  std::vector<std::vector<Gradient>> parts_;  // by tensor: what its users contributed so far
  std::vector<Node*> order_;
};

void CheckArguments(const std::vector<Output>& ys, const std::vector<Output>& xs,
                    const GradientOptions& options) {
  if (!options.grad_ys.empty() && options.grad_ys.size() != ys.size()) {
    throw InvalidArgument("{} ys, but {} grad_ys", ys.size(), options.grad_ys.size());
  }
  for (const auto* list : {&ys, &xs, &options.stop_gradients}) {
    for (Output tensor : *list) {
      if (!tensor) throw InvalidArgument("an empty Output is given to Gradients");
      if (&tensor.graph() != &ys[0].graph()) {
        throw InvalidArgument("{} and {} belong to different graphs", tensor.name(), ys[0].name());
      }
    }
  }
  for (Output y : ys) {
    if (!IsFloating(RemoveRef(y.dtype())) && !IsComplex(RemoveRef(y.dtype()))) {
      throw InvalidArgument("{} is {}: only real and complex tensors can be differentiated",
                            y.name(), DTypeName(y.dtype()));
    }
  }
}

Tensor One(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return Tensor(1.f);
    case DType::kHalf:
      return Tensor::Scalar(Half(1.f));
    case DType::kBFloat16:
      return Tensor::Scalar(BFloat16(1.f));
    case DType::kComplex64:
      return Tensor::Scalar(std::complex<float>(1));
    case DType::kComplex128:
      return Tensor::Scalar(std::complex<double>(1));
    default:
      return Tensor(1.0);
  }
}

// What flows into y from outside.
Gradient Seed(Output y, Output given) {
  if (!given) {
    if (!y.shape().fully_known()) return OpBuilder("OnesLike").Input(y).Name("grad_ys").Build();
    const auto sizes = y.shape().dims();  // so that y itself need not be computed
    return OpBuilder("Fill")
        .Input(ConstInts({sizes.begin(), sizes.end()}, DType::kInt64))
        .Input(Const(One(RemoveRef(y.dtype())), "one"))
        .Name("grad_ys")
        .Build();
  }
  if (RemoveRef(given.dtype()) != RemoveRef(y.dtype())) {
    throw InvalidArgument("the gradient given for {} is {}, must be {}", y.name(),
                          DTypeName(given.dtype()), DTypeName(y.dtype()));
  }
  if (!given.shape().CompatibleWith(y.shape())) {
    throw InvalidArgument("the gradient given for {} has shape {}, must have {}", y.name(),
                          given.shape().ToString(), y.shape().ToString());
  }
  return given;
}

bool HasLoops(const Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const std::string& type = graph.node(i)->type();
    if (type == "Enter" || type == "RefEnter") return true;
  }
  return false;
}

}  // namespace

bool IsDifferentiable(DType dtype) {
  return IsFloating(dtype) || IsComplex(dtype) || dtype == DType::kResource ||
         dtype == DType::kVariant;
}

std::vector<Gradient> BuildGradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                     const std::vector<Gradient>& grad_ys,
                                     const std::vector<Output>& stop_gradients) {
  std::vector<Gradient> results(xs.size());
  if (ys.empty() || xs.empty()) return results;
  Builder builder(ys[0].graph(), xs, stop_gradients);
  for (size_t i = 0; i < ys.size(); ++i) builder.Start(ys[i], grad_ys[i]);
  builder.Run();
  for (size_t i = 0; i < xs.size(); ++i) results[i] = builder.Result(xs[i]);
  return results;
}

std::vector<bool> ReachedInputs(Output y, const std::vector<Output>& xs) {
  Paths paths(y.graph());
  std::vector<Node*> order;
  paths.Visit(y, order);
  std::vector<bool> visited(y.graph().num_nodes());
  for (const Node* node : order) visited[node->id()] = true;
  std::vector<bool> reached;
  for (Output x : xs) reached.push_back(visited[x.node()->id()]);
  return reached;
}

std::vector<Gradient> Gradients(const std::vector<Output>& ys, const std::vector<Output>& xs,
                                const GradientOptions& options) {
  if (ys.empty()) return std::vector<Gradient>(xs.size());
  CheckArguments(ys, xs, options);
  Graph& graph = ys[0].graph();
  std::unique_ptr<GraphScope> use;
  if (!HasCurrentScope()) {
    use = std::make_unique<GraphScope>(graph);
  } else if (&CurrentGraph() != &graph) {
    throw InvalidArgument("{} does not belong to the current graph", ys[0].name());
  }
  if (HasLoops(graph)) StructureLoops(graph);
  const NameScope scope(options.name);
  const DeviceScope any_device("");
  const std::string* const outer_source = gradient_source;
  const std::string source = scope.name().substr(0, scope.name().rfind('/'));
  gradient_source = &source;
  try {
    std::vector<Gradient> seeds;
    for (size_t i = 0; i < ys.size(); ++i) {
      seeds.push_back(Seed(ys[i], options.grad_ys.empty() ? Output() : options.grad_ys[i]));
    }
    auto results = BuildGradients(ys, xs, seeds, options.stop_gradients);
    gradient_source = outer_source;
    return results;
  } catch (...) {
    gradient_source = outer_source;
    throw;
  }
}

const std::string& GradientSource() {
  static const std::string kNone = "gradients";
  return gradient_source ? *gradient_source : kNone;
}

GradientContext::GradientContext(Node* node, std::vector<Gradient> output_gradients)
    : node_(node),
      output_gradients_(std::move(output_gradients)),
      input_gradients_(node->num_inputs()) {}

Output GradientContext::grad(int i) {
  Gradient& gradient = output_gradients_[i];
  if (gradient.none()) gradient = ZeroGradient(output(i));
  if (gradient.sparse()) gradient = gradient.dense();  // once, however often it is asked for
  return gradient;
}

}  // namespace sextant
