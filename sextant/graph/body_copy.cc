#include "sextant/graph/body_copy.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "sextant/graph/op_builder.h"

namespace sextant {

GraphCopier::GraphCopier(const Graph& from, Graph& to) : to_(to) {
  to_.functions().AddAll(from.functions());
}

void GraphCopier::Map(Output from_tensor, Output to_tensor) {
  map_[from_tensor] = to_tensor;
  // Control edges from the node that is not copied go to its substitute.
  if (from_tensor.node()->num_outputs() == 1) nodes_[from_tensor.node()] = to_tensor.node();
}

Output GraphCopier::Copy(Output tensor) {
  if (const auto it = map_.find(tensor); it != map_.end()) return it->second;
  return CopyNode(tensor.node())->output(tensor.index());
}

// Without recursion: bodies may be long chains.
Node* GraphCopier::CopyNode(Node* node) {
  std::vector<std::pair<Node*, int>> stack;
  std::unordered_set<Node*> entered;
  const auto enter = [&](Node* next) {
    if (nodes_.contains(next)) return;
    if (!entered.insert(next).second) {
      throw InvalidArgument("[{} {}] is computed from itself", next->type(), next->name());
    }
    stack.emplace_back(next, 0);
  };
  enter(node);
  while (!stack.empty()) {
    Node* const current = stack.back().first;
    const int i = stack.back().second++;
    const int num_inputs = current->num_inputs();
    if (i < num_inputs) {
      if (!map_.contains(current->input(i))) enter(current->input(i).node());
    } else if (i < num_inputs + static_cast<int>(current->control_inputs().size())) {
      enter(current->control_inputs()[i - num_inputs]);
    } else {
      CopyOne(current);
      stack.pop_back();
    }
  }
  return nodes_.at(node);
}

void GraphCopier::CopyOne(Node* node) {
  NodeSpec spec;
  spec.name = to_.UniqueName(node->name());
  spec.op = to_.FindOp(node->type());
  if (!spec.op) spec.op = &node->op();
  for (Output input : node->inputs()) {
    const auto it = map_.find(input);
    spec.inputs.push_back(it != map_.end() ? it->second
                                           : nodes_.at(input.node())->output(input.index()));
  }
  for (Node* input : node->control_inputs()) spec.control_inputs.push_back(nodes_.at(input));
  spec.attrs = node->attrs();
  spec.device = node->device();
  nodes_[node] = to_.AddNode(std::move(spec));
}

Output AddArgument(FunctionBody& body, DType dtype, const PartialShape& shape,
                   const std::string& name, const HandleShape* handle) {
  Graph& graph = *body.graph;
  NodeSpec spec;
  spec.name = graph.UniqueName(name);
  spec.op = graph.FindOp("_Arg");
  spec.attrs = {{"T", dtype}, {"index", static_cast<int64_t>(body.args.size())}};
  Node* node = graph.AddNode(std::move(spec));
  node->set_output_shape(0, shape);
  if (handle) node->set_output_handle(0, *handle);
  body.args.push_back(node->output(0));
  return body.args.back();
}

FunctionBody CopyBody(const FunctionBody& body, const FunctionLibrary& library,
                      const std::vector<Output>& shapes_of) {
  FunctionBody copy;
  copy.graph = std::make_unique<Graph>();
  copy.graph->functions().AddAll(library);
  copy.graph->set_seed(body.graph->seed());
  GraphCopier copier(*body.graph, *copy.graph);
  for (size_t i = 0; i < body.args.size(); ++i) {
    const Output from = body.args[i];
    const Output source = i < shapes_of.size() ? shapes_of[i] : from;
    const HandleShape* handle = source.node()->output_handle(source.index());
    if (!handle) handle = from.node()->output_handle(0);
    const PartialShape& shape = source.shape().rank_known() ? source.shape() : from.shape();
    copier.Map(from, AddArgument(copy, from.dtype(), shape, from.node()->name(), handle));
  }
  for (Output result : body.results) copy.results.push_back(copier.Copy(result));
  for (Operation effect : body.effects) copy.effects.push_back(copier.CopyNode(effect.node()));
  return copy;
}

std::shared_ptr<const FunctionBody> BodyOf(const Graph& graph, const FuncAttr& function) {
  static const AttrMap kNoAttrs;
  return graph.functions()
      .Get(function.name)
      .Instantiate(graph.functions(), function.attrs ? *function.attrs : kNoAttrs);
}

FuncAttr AddFunction(FunctionBody body, const std::string& base_name, Graph& graph, Graph& other) {
  // Enclosing graphs too: bodies beside this one, built later, must not take the name.
  std::vector<FunctionLibrary*> libraries;
  for (Graph* first : {&graph, &other}) {
    for (Graph* g = first; g; g = g->outer()) {
      if (std::ranges::find(libraries, &g->functions()) == libraries.end()) {
        libraries.push_back(&g->functions());
      }
    }
  }
  std::string safe_name = base_name;
  std::ranges::replace(safe_name, '/', '_');
  std::string name = safe_name;
  const auto taken = [&](const FunctionLibrary* library) { return library->Find(name) != nullptr; };
  for (int i = 1; std::ranges::any_of(libraries, taken); ++i) {
    name = fmt::format("{}_{}", safe_name, i);
  }
  for (FunctionLibrary* library : libraries) library->AddAll(body.graph->functions());
  auto function =
      std::make_shared<const Function>(name, std::make_shared<const FunctionBody>(std::move(body)));
  for (FunctionLibrary* library : libraries) library->Add(function);
  return FuncAttr{name, nullptr};
}

bool IsStateful(const FunctionBody& body) {
  for (int i = 0; i < body.graph->num_nodes(); ++i) {
    const Node& node = *body.graph->node(i);
    if (node.op().stateful() && node.type() != "_Arg") return true;
    if (const Function* called = body.graph->functions().Find(node.type())) {
      if (IsStateful(*called->Instantiate(body.graph->functions(), node.attrs()))) return true;
    }
  }
  return false;
}

std::vector<bool> ConditionalNodes(const Graph& graph) {
  std::vector<bool> conditional(graph.num_nodes());
  // Nearly always in order already, so that the second round finds nothing new.
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < graph.num_nodes(); ++i) {
      const Node& node = *graph.node(i);
      if (conditional[i]) continue;
      bool is = node.type() == "Switch";
      for (Output input : node.inputs()) is = is || conditional[input.node()->id()];
      for (const Node* input : node.control_inputs()) is = is || conditional[input->id()];
      if (is) conditional[i] = changed = true;
    }
  }
  return conditional;
}

Output WrapIfLive(Output tensor) {
  const Output value = OpBuilder("OptionalFromValue").Input(std::vector<Output>{tensor}).Build();
  // Merge takes the first of its inputs that is live.
  return OpBuilder("Merge").Input({value, OpBuilder("OptionalNone").Build()}).Build();
}

Output UnwrapIfLive(Output optional, DType dtype, const PartialShape& shape) {
  const Output live = OpBuilder("OptionalHasValue").Input(optional).Build();
  Node* side = OpBuilder("Switch").Input(optional).Input(live).BuildNode();
  return OpBuilder("OptionalGetValue")
      .Input(side->output(1))
      .Attr("output_types", std::vector<DType>{dtype})
      .Attr("output_shapes", std::vector<PartialShape>{shape})
      .Build();
}

}  // namespace sextant
