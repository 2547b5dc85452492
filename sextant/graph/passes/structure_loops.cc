// Functionalization of v1 loops (Yu et al., "Dynamic control flow in large-scale machine learning",
// EuroSys 2018, describes them). A frame is a cyclic subgraph:
//
//   start ─ Enter ─→ Merge ─→ Switch ─→ (body) ─→ NextIteration ─→ back to Merge
//                      └→ Less ─ LoopCond ┘└→ Exit ─→ end
//
// Every Merge of an Enter and a NextIteration is a loop variable. What the condition depends on,
// cut at the Merges, is the cond function; what the NextIterations depend on, cut at the true side
// of the Switches, the body function. Tensors of outside become variables that the body passes on.
// Invariant: inner frames come first, so a frame has plain nodes only, each effect in one function.
// A body knows the functions that it uses and no others, so that n loops take O(n).
#include "sextant/graph/passes/structure_loops.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/body_copy.h"
#include "sextant/graph/passes/effects.h"
#include "sextant/graph/passes/loop_frames.h"
#include "sextant/graph/passes/rewriting.h"
#include "sextant/graph/passes/single_iteration.h"

namespace sextant {
namespace {

Error NodeError(const Node& node, std::string_view what) {
  return InvalidArgument("[{} {}] {}", node.type(), node.name(), what);
}

// One frame, on its way to become a While.
class LoopBuilder {
 public:
  LoopBuilder(Graph& graph, LoopFrames& frames, int index, Effects& effects)
      : graph_(graph),
        frames_(frames),
        index_(index),
        frame_(frames.frames()[index]),
        effects_(effects) {}

  void Build() {
    FindVariables();
    FindSwitches();
    const std::vector<Node*> cond = CollectCond();
    const std::vector<Node*> body = CollectBody();
    FunctionBody cond_function = Extract(cond);
    cond_function.results = {ConditionIn(*cond_function.graph)};
    FunctionBody body_function = Extract(body);
    for (Variable& v : variables_) {
      const bool passed_on = v.next == nullptr;
      body_function.results.push_back(passed_on ? body_function.args[body_function.results.size()]
                                                : Map(v.next->input(0)));
    }
    AddWhile(std::move(cond_function), std::move(body_function));
  }

 private:
  struct Variable {
    Output start;      // outside
    std::string name;  // of the arguments
    PartialShape shape;
    Node* next = nullptr;  // the NextIteration; null when each iteration passes the value on
  };

  bool Inside(const Node* node) const { return frames_.FrameOf(node) == index_; }

  // Merge, Switch and so on of the loop itself; control edges from these say no more than "in this
  // frame".
  bool IsFrameWork(const Node* node) const {
    const std::string& type = node->type();
    return type == "Enter" || type == "NextIteration" || node == loop_cond_ ||
           variable_of_.contains(Output(const_cast<Node*>(node), 0)) ||
           variable_of_.contains(Output(const_cast<Node*>(node), 1));
  }

  void FindVariables() {
    for (Node* node : frame_.nodes) {
      RequireKnown(*node);
      const std::string& type = node->type();
      if (type == "LoopCond") {
        if (loop_cond_ != nullptr) throw NodeError(*node, "is the second condition of its loop");
        loop_cond_ = node;
      } else if (type == "Enter") {
        parallel_iterations_ = node->attr<int64_t>("parallel_iterations");
        for (Node* input : node->control_inputs()) AddControlInput(input);
      } else if (type == "Merge") {
        AddVariable(node);
      }
    }
    if (loop_cond_ != nullptr) {
      condition_ = loop_cond_->output(0);
    } else {
      FindCondition();
    }
  }

  // LoopCond only marks the condition; without it the condition is what sends a variable to Exit.
  void FindCondition() {
    for (const Node* exit : frame_.exits) {
      const Output last = BehindIdentities(exit->input(0));
      const Node& gate = *last.node();
      if (gate.type() != "Switch" || !variable_of_.contains(gate.input(0))) continue;
      condition_ = BehindIdentities(gate.input(1));
      exit_side_ = last.index();
      return;
    }
    throw InvalidArgument(
        "the loop '{}' with [{} {}] has no condition: no variable goes by a "
        "Switch to an Exit",
        frame_.name, frame_.nodes[0]->type(), frame_.nodes[0]->name());
  }

  // TensorFlow's gradients put an Identity before Exit, for its control inputs.
  Output BehindIdentities(Output tensor) const {
    while (tensor.node()->type() == "Identity" && Inside(tensor.node())) {
      tensor = tensor.node()->input(0);
    }
    return tensor;
  }

  // Whether a Switch of the frame is by the loop's condition.
  bool IsGate(const Node& node) const {
    if (node.type() != "Switch") return false;
    if (loop_cond_ != nullptr) return node.input(1) == condition_;
    return BehindIdentities(node.input(1)) == condition_ && variable_of_.contains(node.input(0));
  }

  void AddVariable(Node* merge) {
    const auto is_next = [](const Output& input) {
      return input.node()->type() == "NextIteration";
    };
    const auto inputs = merge->inputs();
    const auto num_next = std::count_if(inputs.begin(), inputs.end(), is_next);
    if (num_next == 0) return;  // of a conditional
    const Output next = *std::find_if(inputs.begin(), inputs.end(), is_next);
    const auto enter = std::find_if_not(inputs.begin(), inputs.end(), is_next);
    if (num_next != 1 || inputs.size() != 2 || enter->node()->type() != "Enter" ||
        !Inside(enter->node()) || !Inside(next.node())) {
      throw NodeError(*merge, "must join one Enter and one NextIteration of its loop");
    }
    variable_of_[merge->output(0)] = static_cast<int>(variables_.size());
    variables_.push_back({.start = enter->node()->input(0),
                          .name = merge->name(),
                          .shape = merge->output_shape(0),
                          .next = next.node()});
  }

  void FindSwitches() {
    for (Node* node : frame_.nodes) {
      if (!IsGate(*node)) continue;
      const auto found = variable_of_.find(node->input(0));
      if (found == variable_of_.end() || node->input(0).node()->type() != "Merge") {
        throw NodeError(*node, "must switch a variable of its loop");
      }
      const int variable = found->second;
      variable_of_[node->output(1 - exit_side_)] = variable;
      exit_of_[node->output(exit_side_)] = variable;
    }
  }

  void AddControlInput(Node* node) {
    if (std::ranges::find(control_inputs_, node) == control_inputs_.end())
      control_inputs_.push_back(node);
  }

  // A tensor of outside, or an Enter that gives one to each iteration, becomes a variable.
  void AddInvariant(Output tensor) {
    const bool enter = Inside(tensor.node());
    if (enter && !tensor.node()->attr<bool>("is_constant")) {
      throw NodeError(*tensor.node(), "gives its value to the first iteration only");
    }
    variable_of_[tensor] = static_cast<int>(variables_.size());
    const Output start = enter ? tensor.node()->input(0) : tensor;
    variables_.push_back({.start = start, .name = tensor.node()->name(), .shape = start.shape()});
  }

  // Adds to "order" the nodes of the frame that "root" depends on, itself included, inputs first.
  // Control edges from nodes of "before" count as obeyed.
  void Collect(Node* root, const std::unordered_set<const Node*>& before,
               std::unordered_set<const Node*>* seen, std::vector<Node*>* order) {
    std::vector<std::pair<Node*, int>> stack;
    const auto enter = [&](Node* node) {
      if (seen->insert(node).second) stack.emplace_back(node, 0);
    };
    enter(root);
    while (!stack.empty()) {
      Node* const node = stack.back().first;
      const int i = stack.back().second++;
      const int num_inputs = node->num_inputs();
      if (i < num_inputs) {
        const Output input = node->input(i);
        if (variable_of_.contains(input)) continue;
        if (!Inside(input.node()) || input.node()->type() == "Enter") {
          AddInvariant(input);
        } else if (exit_of_.contains(input) || IsFrameWork(input.node())) {
          if (input.node() != loop_cond_) {
            throw NodeError(*node, fmt::format("may not use {} inside the loop", input.name()));
          }
          enter(input.node());
        } else {
          enter(input.node());
        }
      } else if (i < num_inputs + static_cast<int>(node->control_inputs().size())) {
        Node* input = node->control_inputs()[i - num_inputs];
        if (!Inside(input)) {
          AddControlInput(input);
        } else if (!before.contains(input) && !IsFrameWork(input)) {
          enter(input);
        }
      } else {
        order->push_back(node);
        stack.pop_back();
      }
    }
  }

  // What the node "last" (LoopCond, NextIteration) depends on, without itself.
  void CollectInputs(Node* last, const std::unordered_set<const Node*>& before,
                     std::unordered_set<const Node*>* seen, std::vector<Node*>* order) {
    Collect(last, before, seen, order);
    order->pop_back();
  }

  std::vector<Node*> CollectCond() {
    std::vector<Node*> order;
    if (loop_cond_ != nullptr) {
      CollectInputs(loop_cond_, {}, &in_cond_, &order);
    } else if (variable_of_.contains(condition_)) {
      return order;
    } else if (!Inside(condition_.node()) || condition_.node()->type() == "Enter") {
      AddInvariant(condition_);
    } else {
      Collect(condition_.node(), {}, &in_cond_, &order);
    }
    return order;
  }

  // In the cond function, whether another iteration is to come.
  Output ConditionIn(Graph& cond) {
    const Output holds = Map(loop_cond_ != nullptr ? loop_cond_->input(0) : condition_);
    if (exit_side_ == 0) return holds;
    return cond
        .AddNode({.name = FreshName(cond, "LogicalNot"),
                  .op = RequireOp(cond, "LogicalNot"),
                  .inputs = {holds}})
        ->output(0);
  }

  std::vector<Node*> CollectBody() {
    std::vector<Node*> order;
    std::unordered_set<const Node*> seen;
    for (size_t i = 0; i < variables_.size(); ++i) {
      Node* next = variables_[i].next;
      if (next != nullptr && !seen.contains(next)) CollectInputs(next, in_cond_, &seen, &order);
    }
    for (size_t i = 0; i < frame_.nodes.size(); ++i) {
      Node* node = frame_.nodes[i];
      if (!in_cond_.contains(node) && effects_.HasEffect(*node)) {
        Collect(node, in_cond_, &seen, &order);
      }
    }
    for (const Node* node : order) {
      if (node != loop_cond_ && in_cond_.contains(node) && effects_.HasEffect(*node)) {
        throw Unimplemented("[{} {}] has an effect and is used by condition and body of a loop",
                            node->type(), node->name());
      }
    }
    return order;
  }

  FunctionBody Extract(const std::vector<Node*>& nodes) {
    FunctionBody function;
    function.graph = std::make_unique<Graph>();
    function.graph->functions() = graph_.functions().ReachableFrom(nodes);
    function.graph->set_seed(graph_.seed());
    copies_.clear();
    args_.clear();
    for (const Variable& v : variables_) {
      args_.push_back(AddArgument(function, RemoveRef(v.start.dtype()), v.shape, v.name,
                                  v.start.node()->output_handle(v.start.index())));
    }
    for (const Node* node : nodes) {
      Node* copy = Copy(*node, *function.graph);
      copies_[node] = copy;
      if (effects_.HasEffect(*node)) function.effects.emplace_back(copy);
    }
    return function;
  }

  Node* Copy(const Node& node, Graph& to) {
    NodeSpec spec;
    spec.name = FreshName(to, node.name());
    spec.op = RequireOp(to, &node == loop_cond_ ? "Identity" : node.type());
    spec.attrs = node.attrs();
    if (&node == loop_cond_) spec.attrs = {{"T", DType::kBool}};
    spec.device = node.device();
    for (const Output& input : node.inputs()) spec.inputs.push_back(Map(input));
    for (const Node* input : node.control_inputs()) {
      const auto copy = copies_.find(input);
      if (copy != copies_.end()) spec.control_inputs.push_back(copy->second);
    }
    return to.AddNode(std::move(spec));
  }

  Output Map(Output output) const {
    const auto variable = variable_of_.find(output);
    if (variable != variable_of_.end()) return args_[variable->second];
    return Output(copies_.at(output.node()), output.index());
  }

  void AddWhile(FunctionBody cond, FunctionBody body) {
    NodeSpec spec;
    spec.op = RequireOp(graph_, IsStateful(cond) || IsStateful(body) ? "While" : "StatelessWhile");
    spec.name = FreshName(graph_, frame_.name.empty() ? "while" : frame_.name);
    spec.device = condition_.node()->device();
    std::vector<DType> types;
    for (const Variable& v : variables_) {
      spec.inputs.push_back(v.start);
      types.push_back(RemoveRef(v.start.dtype()));
    }
    spec.control_inputs = control_inputs_;
    spec.attrs = {{"T", types},
                  {"cond", AddFunction(std::move(cond), frame_.name + "_cond", graph_, graph_)},
                  {"body", AddFunction(std::move(body), frame_.name + "_body", graph_, graph_)},
                  {"parallel_iterations", parallel_iterations_},
                  {"_scalar_condition", true}};
    Node* loop = graph_.AddNode(std::move(spec));
    for (size_t i = 0; i < variables_.size(); ++i) {
      const Output& start = variables_[i].start;
      if (const HandleShape* handle = start.node()->output_handle(start.index())) {
        loop->set_output_handle(static_cast<int>(i), *handle);
      }
    }
    for (Node* exit : frame_.exits) ReplaceExit(exit, loop);
    frames_.Add(loop, frame_.parent);
  }

  void ReplaceExit(Node* exit, Node* loop) {
    const Output last = BehindIdentities(exit->input(0));
    const auto found = exit_of_.find(last);
    if (found == exit_of_.end()) {
      throw NodeError(*exit, "must take a variable out of its loop");
    }
    std::vector<Node*> after;
    for (Node* input : exit->control_inputs()) {
      if (!Inside(input)) after.push_back(input);
    }
    const Output value = loop->output(found->second);
    graph_.Replace(exit, {.op = RequireOp(graph_, "Identity"),
                          .inputs = {value},
                          .control_inputs = std::move(after),
                          .attrs = {{"T", value.dtype()}}});
    if (const HandleShape* handle = loop->output_handle(found->second)) {
      exit->set_output_handle(0, *handle);
    }
  }

  Graph& graph_;
  LoopFrames& frames_;
  const int index_;
  const LoopFrame frame_;  // a copy: frames grow
  Effects& effects_;
  Node* loop_cond_ = nullptr;  // may be missing
  Output condition_;           // the tensor that the loop's Switches are by
  int exit_side_ = 0;          // of the Switches
  int64_t parallel_iterations_ = 10;
  std::vector<Variable> variables_;
  std::unordered_map<Output, int> variable_of_;  // tensors of the frame that are a variable's value
  std::unordered_map<Output, int> exit_of_;      // its value after the last iteration
  std::vector<Node*> control_inputs_;            // of the While
  std::unordered_set<const Node*> in_cond_;
  // Of the function being made.
  std::vector<Output> args_;
  std::unordered_map<const Node*, Node*> copies_;
};

}  // namespace

void StructureLoops(Graph& graph) {
  LoopFrames frames(graph);
  Effects effects(graph);
  std::vector<Node*> gone;
  // Children come after their parents.
  for (int i = static_cast<int>(frames.frames().size()) - 1; i >= 0; --i) {
    CancellationScope::ThrowIfCancelled();
    frames.CheckNotFetched(i);
    if (RunsOnce(frames, i)) {
      const std::vector<Node*> unread = DissolveFrame(graph, frames, i);
      gone.insert(gone.end(), unread.begin(), unread.end());
      continue;
    }
    LoopBuilder(graph, frames, i, effects).Build();
    const std::vector<Node*>& nodes = frames.frames()[i].nodes;
    gone.insert(gone.end(), nodes.begin(), nodes.end());
  }
  if (!gone.empty()) graph.Remove(gone);
}

}  // namespace sextant
