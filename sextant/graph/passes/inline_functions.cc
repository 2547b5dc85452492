// A call is replaced by a copy of the body between two barriers. "start" is dead when the call
// would be (on a branch that is not taken) and late when the call would be; the nodes of the body
// that have no inputs wait for it. The call node itself becomes the other barrier, a NoOp:
//
//   call(x) after A   →   A ─→ x' = Identity(x) ─→ body ─→ results, effects
//                              start ─→ call: NoOp ←─ effects;   result' = Identity(result) after
//                              call
//
// Invariant: nodes that waited for the call wait for all effects of the body, and each effect of
// the body waits for all inputs of the call. Effects on a dead branch of the body do not make the
// call dead: a ControlTrigger stands between.
#include "sextant/graph/passes/inline_functions.h"

#include <algorithm>
#include <unordered_map>

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/control_flow_gradients.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/effects.h"
#include "sextant/graph/passes/rewriting.h"

namespace sextant {
namespace {

constexpr size_t kMaxNodes = 300'000;

bool IsBackEdge(const Node& from, const Node& to) {
  return from.type().ends_with("NextIteration") && to.type().ends_with("Merge");
}

bool IsCall(const Node& node) {
  return node.type() == "PartitionedCall" || node.type() == "StatefulPartitionedCall";
}

bool HasConditional(const Graph& graph) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (graph.node(id)->type() == "Switch") return true;
  }
  return false;
}

// Nodes that results or effects of the body depend on, in topological order; arguments left out.
std::vector<Node*> NeededNodes(const FunctionBody& body, const std::vector<Node*>& effect_ends) {
  std::vector<bool> needed(body.graph->num_nodes());
  std::vector<const Node*> stack;
  const auto push = [&](const Node* node) {
    if (!needed[node->id()]) stack.push_back(node);
    needed[node->id()] = true;
  };
  for (const Output& result : body.results) push(result.node());
  for (const Operation& effect : body.effects) push(effect.node());
  for (const Node* end : effect_ends) push(end);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Output& input : node->inputs()) push(input.node());
    for (const Node* input : node->control_inputs()) push(input);
  }
  std::vector<Node*> order = TopologicalOrder(*body.graph);
  std::erase_if(order,
                [&](const Node* node) { return !needed[node->id()] || node->type() == "_Arg"; });
  return order;
}

class Inliner {
 public:
  explicit Inliner(Graph& graph) : graph_(graph), effects_(graph) {}

  void Run() {
    // Nodes of bodies are appended, so that calls among them are met later.
    for (int id = 0; id < graph_.num_nodes(); ++id) {
      Node* node = graph_.node(id);
      if (node->type() == "SymbolicGradient") ExpandSymbolicGradients(graph_);
      if (!IsCall(*node) &&
          (graph_.functions().empty() || graph_.functions().Find(node->type()) == nullptr)) {
        continue;
      }
      CancellationScope::ThrowIfCancelled();
      const FuncAttr function = FunctionOf(*node);
      try {
        Inline(node, function);
      } catch (const Error& e) {
        if (e.message().starts_with('[')) throw;
        throw e.WithPrefix(fmt::format("[{} {}] ", node->type(), node->name()));
      }
    }
    Redirect();
    for (auto& [call, done] : finished_) {
      graph_.Replace(call, {.op = RequireOp(graph_, "NoOp"), .control_inputs = std::move(done)});
    }
  }

 private:
  // A call being inlined, and the call whose body holds it (-1: none).
  struct Frame {
    std::string function;
    int parent;
  };

  static FuncAttr FunctionOf(const Node& node) {
    if (IsCall(node)) return node.attr<FuncAttr>("f");
    return {node.type(), std::make_shared<AttrMap>(node.attrs())};
  }

  int EnterFrame(const Node& call, const std::string& function) {
    const auto found = frame_of_.find(&call);
    const int parent = found == frame_of_.end() ? -1 : found->second;
    for (int frame = parent; frame >= 0; frame = frames_[frame].parent) {
      if (frames_[frame].function == function) {
        throw InvalidArgument("function {} calls itself without end", function);
      }
    }
    frames_.push_back({function, parent});
    return static_cast<int>(frames_.size()) - 1;
  }

  void Inline(Node* call, const FuncAttr& function) {
    static const AttrMap kNone;
    const int frame = EnterFrame(*call, function.name);
    const auto body =
        graph_.functions()
            .Get(function.name)
            .Instantiate(graph_.functions(), function.attrs ? *function.attrs : kNone);
    if (body->args.size() != static_cast<size_t>(call->num_inputs()) ||
        body->results.size() != static_cast<size_t>(call->num_outputs())) {
      throw InvalidArgument("has {} inputs and {} outputs, function {} {} arguments and {} results",
                            call->num_inputs(), call->num_outputs(), function.name,
                            body->args.size(), body->results.size());
    }
    graph_.functions().AddAll(body->graph->functions());
    const std::vector<Node*> effect_ends = effects_.EndsIn(*body);
    const std::vector<Node*> nodes = NeededNodes(*body, effect_ends);
    num_inlined_ += nodes.size();
    if (num_inlined_ > kMaxNodes) {
      throw ResourceExhausted("the calls add up to more than {} nodes", kMaxNodes);
    }

    copies_.clear();
    values_.clear();
    MapArguments(call, *body, !effect_ends.empty());
    for (const Node* node : nodes) frame_of_[CopyNode(*node, call)] = frame;
    for (const Node* node : nodes) {
      for (int i = 0; i < node->num_inputs(); ++i) {
        if (IsBackEdge(*node->input(i).node(), *node)) {
          graph_.SetInput(copies_.at(node), i, Map(node->input(i)));
        }
      }
    }
    Finish(call, *body, effect_ends);
  }

  // Bodies that change something run only once all inputs of the call are there: on a branch that
  // is not taken they never are.
  void MapArguments(Node* call, const FunctionBody& body, bool has_effects) {
    const std::vector<Node*> after(call->control_inputs().begin(), call->control_inputs().end());
    start_ = after;
    for (size_t i = 0; i < body.args.size(); ++i) {
      Output given = Resolve(call->input(static_cast<int>(i)));
      if (given.dtype() != DType::kInvalid && RemoveRef(given.dtype()) != body.args[i].dtype() &&
          given.dtype() != body.args[i].dtype()) {
        throw InvalidArgument("input {} is {}, the function wants {}", i, DTypeName(given.dtype()),
                              DTypeName(body.args[i].dtype()));
      }
      if (!after.empty() || has_effects) {
        given = AddIdentity(given, body.args[i].node()->name(), call, after);
      }
      if (has_effects) start_.push_back(given.node());
      values_[body.args[i]] = given;
    }
    if (start_.size() > 1) {
      start_ = {graph_.AddNode({.name = FreshName(graph_, call->name() + "/_start"),
                                .op = RequireOp(graph_, "NoOp"),
                                .control_inputs = start_,
                                .device = call->device()})};
    }
  }

  Output AddIdentity(Output value, const std::string& name, Node* call, std::vector<Node*> after) {
    Node* node = graph_.AddNode({.name = FreshName(graph_, call->name() + "/" + name),
                                 .op = RequireOp(graph_, "Identity"),
                                 .inputs = {value},
                                 .control_inputs = std::move(after),
                                 .attrs = {{"T", RemoveRef(value.dtype())}},
                                 .device = call->device()});
    if (const HandleShape* handle = value.node()->output_handle(value.index())) {
      node->set_output_handle(0, *handle);
    }
    return node->output(0);
  }

  Output Map(Output output) const {
    const auto value = values_.find(output);
    return value != values_.end() ? value->second
                                  : Output(copies_.at(output.node()), output.index());
  }

  Node* CopyNode(const Node& node, Node* call) {
    RequireKnown(node);
    NodeSpec spec;
    spec.name = FreshName(graph_, call->name() + "/" + node.name());
    spec.op = RequireOp(graph_, node.type());
    spec.attrs = node.attrs();
    spec.device = node.device().empty() ? call->device() : node.device();
    int pending = -1;
    for (const Output& input : node.inputs()) {
      if (IsBackEdge(*input.node(), node) && !copies_.contains(input.node())) {
        pending = static_cast<int>(spec.inputs.size());
        spec.inputs.emplace_back();  // set when all are copied
      } else {
        spec.inputs.push_back(Map(input));
      }
    }
    // Until then another input of the Merge stands there: it has the same type.
    if (pending >= 0) {
      const auto known = std::find_if(spec.inputs.begin(), spec.inputs.end(),
                                      [](const Output& input) { return bool(input); });
      if (known == spec.inputs.end()) throw InvalidArgument("a loop has no entry");
      for (Output& input : spec.inputs) input = input ? input : *known;
    }
    for (const Node* input : node.control_inputs()) {
      const auto copy = copies_.find(input);
      if (copy != copies_.end()) spec.control_inputs.push_back(copy->second);
    }
    if (spec.inputs.empty() && spec.control_inputs.empty()) spec.control_inputs = start_;
    if (const Attr* classes = FindAttr(spec.attrs, "_class");
        classes && classes->Is<std::vector<std::string>>()) {
      auto names = classes->Get<std::vector<std::string>>();
      for (std::string& name : names) {
        if (name.starts_with("loc:@")) name.insert(5, call->name() + "/");
      }
      SetAttr(spec.attrs, "_class", std::move(names));
    }
    if (node.type() == "Enter") {  // every call has loops of its own
      SetAttr(spec.attrs, "frame_name", call->name() + "/" + node.attr<std::string>("frame_name"));
    }
    return copies_[&node] = graph_.AddNode(std::move(spec));
  }

  void Finish(Node* call, const FunctionBody& body, const std::vector<Node*>& effect_ends) {
    std::vector<Node*> done = start_;
    const bool has_effects = !effect_ends.empty();
    std::vector<Node*> effects;
    for (const Node* end : effect_ends) effects.push_back(copies_.at(end));
    if (has_effects && HasConditional(*body.graph)) {
      // Effects on a branch that is not taken are waited for, but do not make the call dead.
      effects = {graph_.AddNode({.name = FreshName(graph_, call->name() + "/_effects"),
                                 .op = RequireOp(graph_, "ControlTrigger"),
                                 .control_inputs = std::move(effects),
                                 .device = call->device()})};
    }
    done.insert(done.end(), effects.begin(), effects.end());
    for (size_t i = 0; i < body.results.size(); ++i) {
      const Output result = Map(body.results[i]);
      if (!has_effects) done.push_back(result.node());
      replaced_[Output(call, static_cast<int>(i))] =
          has_effects ? AddIdentity(result, "_result", call, {call}) : result;
    }
    std::sort(done.begin(), done.end(),
              [](const Node* a, const Node* b) { return a->id() < b->id(); });
    done.erase(std::unique(done.begin(), done.end()), done.end());
    finished_.emplace_back(call, std::move(done));
  }

  // A result may be that of a call inside.
  Output Resolve(Output output) const {
    for (auto found = replaced_.find(output); found != replaced_.end();
         found = replaced_.find(output)) {
      output = found->second;
    }
    return output;
  }

  void Redirect() {
    if (replaced_.empty()) return;
    for (int id = 0; id < graph_.num_nodes(); ++id) {
      Node* node = graph_.node(id);
      for (int i = 0; i < node->num_inputs(); ++i) {
        const Output input = Resolve(node->input(i));
        if (!(input == node->input(i))) graph_.SetInput(node, i, input);
      }
    }
  }

  Graph& graph_;
  Effects effects_;
  size_t num_inlined_ = 0;
  std::vector<Frame> frames_;
  std::unordered_map<const Node*, int> frame_of_;
  // Outputs of calls and what gives their values now; the calls, to become NoOps, and what they
  // wait for.
  std::unordered_map<Output, Output> replaced_;
  std::vector<std::pair<Node*, std::vector<Node*>>> finished_;
  // Of the call being inlined.
  std::unordered_map<const Node*, Node*> copies_;
  std::unordered_map<Output, Output> values_;
  std::vector<Node*> start_;
};

}  // namespace

void InlineFunctions(Graph& graph) { Inliner(graph).Run(); }

}  // namespace sextant
