// SymbolicGradient: the gradient of a function as a node, from before functions were differentiated
// by building nodes.
#include "sextant/graph/body_copy.h"
#include "sextant/graph/control_flow_gradients.h"
#include "sextant/graph/gradient_builder.h"
#include "sextant/graph/scope.h"

namespace sextant {

namespace {

// Takes the arguments of the function and the gradients of its results, gives those of its
// arguments.
FunctionBody GradientBody(const Node& node) {
  const auto function = BodyOf(node.graph(), node.attr<FuncAttr>("f"));
  const size_t num_args = function->args.size(), num_results = function->results.size();
  if (static_cast<size_t>(node.num_inputs()) != num_args + num_results ||
      static_cast<size_t>(node.num_outputs()) != num_args) {
    throw InvalidArgument(
        "[{} {}] has {} inputs and {} outputs, the function {} arguments and {} results",
        node.type(), node.name(), node.num_inputs(), node.num_outputs(), num_args, num_results);
  }
  std::vector<Output> inputs(node.inputs().begin(), node.inputs().end());
  FunctionBody body = CopyBody(*function, node.graph().functions(), inputs);
  const std::vector<Output> ys = std::move(body.results), xs = body.args;
  const GraphScope use(*body.graph);
  std::vector<Output> differentiable;
  std::vector<Gradient> grad_ys;
  for (size_t i = 0; i < num_results; ++i) {
    const Output gradient = AddArgument(body, ys[i].dtype(), inputs[num_args + i].shape(), "grad");
    if (!IsDifferentiable(ys[i].dtype())) continue;
    differentiable.push_back(ys[i]);
    grad_ys.push_back(gradient);
  }
  const std::vector<Gradient> gradients = BuildGradients(differentiable, xs, grad_ys);
  body.results.clear();
  for (size_t i = 0; i < num_args; ++i) {
    body.results.push_back(gradients[i].none() ? ZeroGradient(xs[i]) : gradients[i].dense());
  }
  return CopyBody(body, body.graph->functions());
}

}  // namespace

void ExpandSymbolicGradients(Graph& graph) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    Node* node = graph.node(i);
    if (node->type() != "SymbolicGradient") continue;
    const FuncAttr& function = node->attr<FuncAttr>("f");
    NodeSpec spec;
    spec.op = graph.FindOp("PartitionedCall");
    spec.inputs.assign(node->inputs().begin(), node->inputs().end());
    spec.control_inputs.assign(node->control_inputs().begin(), node->control_inputs().end());
    spec.attrs = {{"Tin", node->attr<Attr>("Tin")}, {"Tout", node->attr<Attr>("Tout")}};
    const std::string* given = graph.functions().FindGradient(function.name);
    spec.attrs.emplace_back(
        "f", given ? FuncAttr{*given, function.attrs}
                   : AddFunction(GradientBody(*node), function.name + "_grad", graph, graph));
    graph.Replace(node, std::move(spec));
  }
}

}  // namespace sextant
