// Liveness by demand: a walk back from what is fetched, where an If, Case or While is not one node
// but one for each output and one for its control results. A need of output k becomes a need of the
// arguments on which result k of the branches, or of the body, depends, and that is found by the
// same walk inside of the function, once for each function and result.
//
//   i, s, n = While(i0, s0, n0)     cond: i < n     body: i + 1, s + i, n
//   i fetched: needs i, and by the condition n; result 0 of the body needs i; s is never reached,
//   so s0 becomes a constant and what only s0 needed is removed
//
// Invariant: the set of needed parts only grows, and each part is expanded once, so a loop's
// variables, which may need each other in a circle, come to a fixed point (strongly live variables
// in the sense of data-flow analysis). With a While its condition and the control results of its
// functions are always needed, whichever part of it is.
#include "sextant/runtime/lowered_needs.h"

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/lowered_branches.h"

namespace sextant {
namespace {

constexpr int kMaxDepth = 50;  // of functions inside functions
// The part of a node or function that is its control results; the others are numbered.
constexpr int kControls = -1;

bool IsLoop(const Node& node) { return node.type().ends_with("While"); }

bool HasLoweredBranches(const Node& node) {
  const std::string& type = node.type();
  return IsLowered(node) &&
         (type == "If" || type == "StatelessIf" || type == "Case" || type == "StatelessCase" ||
          type == "While" || type == "StatelessWhile");
}

// No constant can stand for these.
bool AlwaysRead(DType dtype) {
  return dtype == DType::kResource || dtype == DType::kVariant || IsRef(dtype);
}

std::vector<FuncAttr> Branches(const Node& node) {
  if (node.type().ends_with("Case")) return node.attr<std::vector<FuncAttr>>("branches");
  return {node.attr<FuncAttr>("else_branch"), node.attr<FuncAttr>("then_branch")};
}

// Which arguments of functions are needed for which of their parts.
class Arguments {
 public:
  explicit Arguments(const FunctionLibrary& functions) : functions_(functions) {}

  // Per argument; those behind the end are needed.
  std::vector<bool> NeededFor(const FuncAttr& function, int part, int depth);

 private:
  const FunctionLibrary& functions_;
  std::map<std::pair<std::string, int>, std::vector<bool>> known_;
};

// Walks back from parts of nodes to all that they depend on.
class Walk {
 public:
  struct Use {
    std::vector<bool> outputs, inputs;
    bool controls = false;
    bool noted = false;
  };

  Walk(Arguments& arguments, int depth) : arguments_(arguments), depth_(depth) {}

  void Need(const Node* node, int part) {
    pending_.emplace_back(node, part);
    while (!pending_.empty()) {
      const auto [next, next_part] = pending_.back();
      pending_.pop_back();
      if (HasLoweredBranches(*next)) {
        Expand(*next, next_part);
      } else if (seen_.insert(next).second) {
        for (const Output& input : next->inputs()) Push(input);
        PushControls(*next);
      }
    }
  }
  bool Reached(const Node* node) const { return seen_.contains(node); }
  const std::unordered_map<const Node*, Use>& uses() const { return uses_; }

 private:
  void Push(Output output) { pending_.emplace_back(output.node(), output.index()); }
  void PushControls(const Node& node) {
    for (const Node* control : node.control_inputs()) pending_.emplace_back(control, kControls);
  }

  void NeedInput(const Node& node, Use& use, size_t i) {
    if (i >= use.inputs.size() || use.inputs[i]) return;
    use.inputs[i] = true;
    Push(node.input(static_cast<int>(i)));
  }

  // What a node needs whatever part of it is needed.
  void Enter(const Node& node, Use& use) {
    use.outputs.resize(node.num_outputs());
    use.inputs.resize(node.num_inputs());
    PushControls(node);
    for (int i = 0; i < node.num_inputs(); ++i) {
      if (AlwaysRead(node.input(i).dtype())) NeedInput(node, use, i);
    }
    if (IsFetchedItself(node)) {
      for (int i = 0; i < node.num_outputs(); ++i) pending_.emplace_back(&node, i);
      ExpandControls(node, use);
    } else if (const auto noted = NotedUse(node)) {
      use.noted = true;
      for (const int32_t i : noted->outputs) pending_.emplace_back(&node, i);
      if (noted->control_results) ExpandControls(node, use);
    }
    if (!IsLoop(node)) return NeedInput(node, use, 0);
    const FuncAttr& cond = node.attr<FuncAttr>("cond");
    NeedVariables(node, cond, 0);
    NeedVariables(node, cond, kControls);
    NeedVariables(node, node.attr<FuncAttr>("body"), kControls);
  }

  void Expand(const Node& node, int part) {
    const auto [found, is_new] = uses_.try_emplace(&node);
    Use& use = found->second;
    if (is_new) Enter(node, use);
    if (part == kControls) {
      if (!use.noted) ExpandControls(node, use);
      return;
    }
    if (use.outputs[part]) return;
    use.outputs[part] = true;
    if (IsLoop(node)) {
      NeedInput(node, use, part);
      NeedVariables(node, node.attr<FuncAttr>("body"), part);
    } else {
      NeedArguments(node, use, part);
    }
  }

  // Nodes that wait for a loop wait for all its variables.
  void ExpandControls(const Node& node, Use& use) {
    if (std::exchange(use.controls, true)) return;
    if (!IsLoop(node)) return NeedArguments(node, use, kControls);
    for (int i = 0; i < node.num_outputs(); ++i) pending_.emplace_back(&node, i);
  }

  void NeedVariables(const Node& node, const FuncAttr& function, int part) {
    const std::vector<bool> needed = arguments_.NeededFor(function, part, depth_ + 1);
    for (int i = 0; i < node.num_outputs(); ++i) {
      if (static_cast<size_t>(i) >= needed.size() || needed[i]) pending_.emplace_back(&node, i);
    }
  }

  void NeedArguments(const Node& node, Use& use, int part) {
    for (const FuncAttr& branch : Branches(node)) {
      const std::vector<bool> needed = arguments_.NeededFor(branch, part, depth_ + 1);
      for (size_t i = 0; i + 1 < use.inputs.size(); ++i) {
        if (i >= needed.size() || needed[i]) NeedInput(node, use, i + 1);
      }
    }
  }

  Arguments& arguments_;
  const int depth_;
  std::vector<std::pair<const Node*, int>> pending_;
  std::unordered_set<const Node*> seen_;  // others than lowered ones
  std::unordered_map<const Node*, Use> uses_;
};

std::vector<bool> Arguments::NeededFor(const FuncAttr& function, int part, int depth) {
  // Functions that call themselves need all; planning refuses them.
  const auto [found, is_new] = known_.try_emplace({function.name, part});
  if (!is_new) return found->second;
  if (depth > kMaxDepth) return {};
  std::shared_ptr<const FunctionBody> body;
  const Function* named = functions_.Find(function.name);
  if (named == nullptr) return {};
  try {
    body = named->Instantiate(functions_, function.attrs ? *function.attrs : AttrMap());
  } catch (const Error&) {
    return {};  // planning says it, if the node is reached
  }
  Walk walk(*this, depth);
  if (part == kControls) {
    for (const Operation& result : ControlResults(*named, *body)) {
      walk.Need(result.node(), kControls);
    }
  } else if (static_cast<size_t>(part) < body->results.size()) {
    walk.Need(body->results[part].node(), body->results[part].index());
  }
  std::vector<bool> needed;
  for (const Output& arg : body->args) needed.push_back(walk.Reached(arg.node()));
  return found->second = std::move(needed);
}

}  // namespace

void NoteUses(Graph& graph, const std::vector<Node*>& needed) {
  bool any = false;
  for (int id = 0; id < graph.num_nodes() && !any; ++id) any = HasLoweredBranches(*graph.node(id));
  if (!any) return;
  Arguments arguments(graph.functions());
  Walk walk(arguments, 0);
  for (const Node* node : needed) walk.Need(node, kControls);
  const OpDef* const_op = graph.FindOp("Const");
  const int count = graph.num_nodes();
  bool dropped = false;
  for (int id = 0; id < count; ++id) {
    Node* node = graph.node(id);
    const auto found = walk.uses().find(node);
    if (found == walk.uses().end()) continue;
    const Walk::Use& use = found->second;
    LoweredUse noted{.outputs = {}, .control_results = use.controls};
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (use.outputs[i]) noted.outputs.push_back(i);
    }
    NoteUse(graph, node, noted);
    for (int i = 0; i < node->num_inputs(); ++i) {
      if (use.inputs[i] || node->input(i).node()->type() == "Const") continue;
      const DType dtype = node->input(i).dtype();
      const Node* constant =
          graph.AddNode({.name = graph.UniqueName(node->name() + "/_unneeded"),
                         .op = const_op,
                         .inputs = {},
                         .control_inputs = {},
                         .attrs = {{"value", Tensor::Zeros(dtype, {})}, {"dtype", dtype}},
                         .device = node->device()});
      graph.SetInput(node, i, constant->output(0));
      dropped = true;
    }
  }
  if (dropped) RemoveUnneeded(graph, needed);
}

}  // namespace sextant
