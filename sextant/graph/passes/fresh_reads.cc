// Idea: follow the tensors that share a variable's buffer (aliases) from "v/read" on through nodes
// that hand their input on (Identity, StopGradient, Reshape, Switch, Enter, the Merge of a
// conditional), and know for every node which changes of variables come before it: those of its
// inputs and control inputs, and its own (change_sets.h). Changes are numbered by variable, so that
// a variable's are a range.
//
// Invariant: an alias with the changes "seen" holds what the variable was after them. A reader of
// it with more changes of the same variable must read again:
//
//   v ─ v/read ─────────────── y          y comes after AssignAdd, v/read does not:
//   v ─ AssignAdd ─(control)─→ y          y reads Identity(v), run after AssignAdd, instead.
//
// In a loop a reader of an alias from outside comes after the changes of the iteration before,
// which no set tells: where the loop changes the variable it always reads again, from a reference
// that is taken into the loop (RefEnter). In the branch of a conditional it reads from a RefSwitch.
// Behind a Merge, whose other input need not be an alias, there is no reference: the reader gets
// another Merge, of fresh reads in the branches. Nor is there one behind a Reshape.
#include "sextant/graph/passes/fresh_reads.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/passes/change_sets.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/loop_frames.h"
#include "sextant/graph/passes/rewriting.h"

namespace sextant {
namespace {

bool HandsOnValue(const std::string& type) {
  return type == "Identity" || type == "StopGradient" || type == "PreventGradient";
}

bool ChangesShapeOnly(const std::string& type) {
  return type == "Reshape" || type == "Squeeze" || type == "ExpandDims";
}

// Whether a node that takes references may write through them.
bool MayChange(const Node& node) {
  const std::string& type = node.type();
  return !type.starts_with("Ref") && type != "IsVariableInitialized" &&
         std::ranges::any_of(node.op().inputs(), [](const ArgDef& arg) { return arg.is_ref; });
}

// Of a conditional, not of a loop.
bool JoinsBranches(const Node& node) {
  return node.type() == "Merge" && std::ranges::none_of(node.inputs(), [](const Output& input) {
           return input.node()->type() == "NextIteration";
         });
}

class FreshReads {
 public:
  explicit FreshReads(Graph& graph) : graph_(graph), order_(TopologicalOrder(graph)) {}

  void Run() {
    FindChanges();
    if (changes_.empty()) return;
    FindFrames();
    for (const Node* node : order_) FindChangesBefore(*node);
    for (Node* node : order_) {
      CancellationScope::ThrowIfCancelled();
      if (node->type().starts_with('_'))
        continue;  // the sink: what is fetched is ordered by nobody
      Reread(node);
      FindAliases(node);
    }
  }

 private:
  struct Alias {
    std::vector<int> variables;  // of one of them; behind a Merge it may be that of several
    ChangeSets::Set seen = ChangeSets::kEmpty;
    bool loop_changes = false;  // it comes from outside of a loop that changes the variable
    bool referable = true;      // there is a reference to the variable: no shape nor Merge between
    Output reference;           // it, where the alias is; made when needed
  };

  // ---- variables and changes

  int VariableOf(Output reference) const {
    const auto found = variables_.find(reference.node());
    return found == variables_.end() ? -1 : found->second;
  }

  static std::string NameOf(const Node& variable) {
    const std::string& shared = variable.attr<std::string>("shared_name");
    return variable.attr<std::string>("container") + "\n" +
           (shared.empty() ? variable.name() : shared);
  }

  void FindChanges() {
    std::vector<std::pair<int, const Node*>> changes;  // of variables, by nodes
    for (const Node* node : order_) {
      const std::string& type = node->type();
      if (type == "Variable" || type == "VariableV2") {
        const int number = static_cast<int>(numbers_.size());
        variables_[node] = numbers_.emplace(NameOf(*node), number).first->second;
        continue;
      }
      std::set<int> changed;
      for (const Output& input : node->inputs()) {
        if (IsRef(input.dtype()) && VariableOf(input) >= 0) changed.insert(VariableOf(input));
      }
      if (changed.empty()) continue;
      // A RefMerge of several variables is none of them.
      if (changed.size() == 1) variables_[node] = *changed.begin();
      if (!MayChange(*node)) continue;
      for (const int variable : changed) changes.emplace_back(variable, node);
    }
    std::ranges::stable_sort(changes, {}, &std::pair<int, const Node*>::first);
    for (const auto& [variable, node] : changes) {
      const int number = static_cast<int>(variable_of_change_.size());
      changes_.emplace(variable, std::pair(number, number)).first->second.second = number + 1;
      changes_of_[node].push_back(number);
      variable_of_change_.push_back(variable);
    }
    sets_.emplace(static_cast<int>(changes.size()));
  }

  void FindFrames() {
    const auto is_enter = [](const Node* node) { return node->type().ends_with("Enter"); };
    if (std::ranges::none_of(order_, is_enter)) return;
    frames_.emplace(graph_);
    for (const auto& [node, changes] : changes_of_) {
      int frame = frames_->FrameOf(node);
      for (; frame >= 0; frame = frames_->frames()[frame].parent) {
        ChangeSets::Set& inside = changes_in_[frame];
        for (const int change : changes) {
          changed_in_.emplace(frame, variable_of_change_[change]);
          inside = sets_->With(inside, change);
        }
      }
    }
  }

  void FindChangesBefore(const Node& node) {
    CancellationScope::ThrowIfCancelled();
    ChangeSets::Set before = ChangeSets::kEmpty;
    const auto unite = [&](ChangeSets::Set more) { before = sets_->Union(before, more); };
    for (const Output& input : node.inputs()) unite(ChangesBefore(input.node()));
    for (const Node* control : node.control_inputs()) unite(ChangesBefore(control));
    if (const auto own = changes_of_.find(&node); own != changes_of_.end()) {
      for (const int change : own->second) before = sets_->With(before, change);
    }
    if (frames_ && node.type().ends_with("Exit")) {  // after all iterations
      const auto inside = changes_in_.find(frames_->FrameOf(node.input(0).node()));
      if (inside != changes_in_.end()) unite(inside->second);
    }
    if (before != ChangeSets::kEmpty) before_[&node] = before;
  }

  // Whether "node" comes after a change of the variable that the alias has not seen; that of "own"
  // does not count.
  bool HasMore(const Node* node, const Alias& alias, const Node& own) const {
    return std::ranges::any_of(alias.variables, [&](int variable) {
      const auto [begin, end] = changes_.at(variable);
      int except = -1;
      if (const auto changes = changes_of_.find(&own); changes != changes_of_.end()) {
        for (const int change : changes->second) {
          if (variable_of_change_[change] == variable) except = change;
        }
      }
      return sets_->HasMore(ChangesBefore(node), alias.seen, begin, end, except);
    });
  }

  // Those of the node included.
  ChangeSets::Set ChangesBefore(const Node* node) const {
    const auto found = before_.find(node);
    return found == before_.end() ? ChangeSets::kEmpty : found->second;
  }

  // ---- readers

  void Reread(Node* node) {
    const std::string& type = node->type();
    if (type == "Switch" || type == "Enter") return;  // its readers decide
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output input = node->input(i);
      const auto found = aliases_.find(input);
      if (found == aliases_.end()) continue;
      std::vector<Node*> after = {input.node()};
      // Only one of a Merge's inputs is there.
      bool more = found->second.loop_changes || HasMore(input.node(), found->second, *node);
      for (Node* control : node->control_inputs()) {
        more = more || HasMore(control, found->second, *node);
        after.push_back(control);
      }
      for (const Output& other : node->inputs()) {
        if (type == "Merge" || aliases_.contains(other) || IsRef(other.dtype())) continue;
        more = more || HasMore(other.node(), found->second, *node);
        if (!IsFreeConstant(*other.node())) after.push_back(other.node());
      }
      if (more) graph_.SetInput(node, i, FreshValue(input, *node, std::move(after)));
    }
  }

  void FindAliases(Node* node) {
    const std::string& type = node->type();
    if (JoinsBranches(*node)) return JoinAliases(node);
    const bool enter = type == "Enter", conditional = type == "Switch";
    const bool view = ChangesShapeOnly(type), value = HandsOnValue(type);
    if ((!value && !view && !conditional && !enter) || node->num_inputs() == 0) return;
    const Output input = OriginalInput(*node);
    Alias alias;
    if (value && IsRef(input.dtype()) && VariableOf(input) >= 0) {
      if (!changes_.contains(VariableOf(input))) return;
      alias.variables = {VariableOf(input)};
      alias.reference = input;
    } else if (const auto from = aliases_.find(input); from != aliases_.end()) {
      alias = from->second;
      if (!alias.referable && (conditional || enter)) return;
      if (enter && !node->attr<bool>("is_constant")) return;
      if (view) alias.referable = false;
      if (conditional || enter) alias.reference = {};
    } else {
      return;
    }
    if (enter) {
      alias.loop_changes =
          alias.loop_changes || std::ranges::any_of(alias.variables, [&](int variable) {
            return changed_in_.contains({frames_->FrameOf(node), variable});
          });
    } else if (!conditional) {
      alias.seen = ChangesBefore(node);
      alias.loop_changes = false;
    }
    for (int i = 0; i < (conditional ? 2 : 1); ++i) aliases_[node->output(i)] = alias;
  }

  // What the branch that is not taken would have changed counts as seen: it does not happen.
  void JoinAliases(Node* merge) {
    Alias joined{.variables = {}, .seen = ChangesBefore(merge), .referable = false};
    for (int i = 0; i < merge->num_inputs(); ++i) {
      const auto from = aliases_.find(OriginalInput(*merge, i));
      if (from == aliases_.end()) continue;
      for (const int variable : from->second.variables) {
        if (std::ranges::find(joined.variables, variable) == joined.variables.end())
          joined.variables.push_back(variable);
      }
    }
    if (!joined.variables.empty()) aliases_[merge->output(0)] = joined;
  }

  // The input before any fresh value took its place.
  Output OriginalInput(const Node& node, int i = 0) const {
    const auto found = original_inputs_.find(&node);
    return found == original_inputs_.end() ? node.input(i) : found->second[i];
  }

  // ---- new nodes

  // The reference to the variable where the alias is.
  Output ReferenceOf(Output alias) {
    Alias& found = aliases_.at(alias);
    if (found.reference) return found.reference;
    const Node& node = *alias.node();
    if (HandsOnValue(node.type())) return found.reference = ReferenceOf(OriginalInput(node));
    // Switch or Enter.
    std::vector<Output> inputs(node.inputs().begin(), node.inputs().end());
    inputs[0] = ReferenceOf(inputs[0]);
    Node* added = graph_.AddNode({.name = FreshName(graph_, node.name() + "/_ref"),
                                  .op = RequireOp(graph_, "Ref" + node.type()),
                                  .inputs = std::move(inputs),
                                  .attrs = node.attrs(),
                                  .device = node.device()});
    for (int i = 0; i < added->num_outputs(); ++i) {
      aliases_.at(node.output(i)).reference = added->output(i);
    }
    return added->output(alias.index());
  }

  Output FreshValue(Output alias, Node& reader, std::vector<Node*> after) {
    original_inputs_.try_emplace(&reader, reader.inputs().begin(), reader.inputs().end());
    Node& node = *alias.node();
    if (!aliases_.at(alias).referable) {
      if (HandsOnValue(node.type()))
        return FreshValue(OriginalInput(node), reader, std::move(after));
      std::vector<Output> inputs(node.inputs().begin(), node.inputs().end());
      const int handed_on = ChangesShapeOnly(node.type()) ? 1 : node.num_inputs();
      for (int i = 0; i < handed_on; ++i) {
        const Output original = OriginalInput(node, i);
        if (aliases_.contains(original)) inputs[i] = FreshValue(original, reader, after);
      }
      return graph_
          .AddNode({.name = FreshName(graph_, node.name() + "/_fresh"),
                    .op = &node.op(),
                    .inputs = std::move(inputs),
                    .attrs = node.attrs(),
                    .device = node.device()})
          ->output(0);
    }
    const Output reference = ReferenceOf(alias);
    return graph_
        .AddNode({.name = FreshName(graph_, reader.name() + "/_fresh"),
                  .op = RequireOp(graph_, "Identity"),
                  .inputs = {reference},
                  .control_inputs = std::move(after),
                  .attrs = {{"T", RemoveRef(reference.dtype())}},
                  .device = node.device()})
        ->output(0);
  }

  Graph& graph_;
  const std::vector<Node*> order_;
  std::map<std::string, int> numbers_;              // of variables
  std::unordered_map<const Node*, int> variables_;  // behind the references a node gives
  std::unordered_map<const Node*, std::vector<int>> changes_of_;  // nodes that change variables
  std::map<int, std::pair<int, int>> changes_;  // by variable: [begin, end) of their numbers
  std::vector<int> variable_of_change_;
  std::optional<ChangeSets> sets_;
  std::optional<LoopFrames> frames_;
  std::set<std::pair<int, int>> changed_in_;                 // frame, variable
  std::unordered_map<int, ChangeSets::Set> changes_in_;      // by frame, inner frames included
  std::unordered_map<const Node*, ChangeSets::Set> before_;  // of nodes after any change
  std::unordered_map<Output, Alias> aliases_;
  std::unordered_map<const Node*, std::vector<Output>> original_inputs_;  // of those read again
};

}  // namespace

void AddFreshReads(Graph& graph) { FreshReads(graph).Run(); }

}  // namespace sextant
