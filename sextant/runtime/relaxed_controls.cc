// A model with batch normalisation builds its train op behind its moving averages. Example, w0 and
// the average m0 on ps 0, w1 and m1 on ps 1, the step on ps 0:
//
//   m0, m1 ··> gradients here ─> w0, w1 ··> step          ··> a control edge
//
// Edge by edge that is a call for the averages and another for the weights on each server, and the
// gradients wait for both servers. No value depends on it: what a Run reads of a variable is
// settled by the order of the nodes that touch this variable (effect_order.h), whatever else runs
// between. So an edge from a change of a variable, or from a read of it behind the change, counts
// for nothing but
//
// - the last changes of a Run, those of integer variables, which count things, and what does more
//   than to compute or to touch a variable: they wait for all that led to them, as the step does
//   here for w0, w1, m0 and m1;
// - other changes: they run no earlier, but those of another task may run at the same time, w0 in
//   the call of m0.
//
// Every node hands on the changes that its predecessors did not wait for, as a set of bits, to the
// first that does.
#include "sextant/runtime/relaxed_controls.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sextant/runtime/effect_order.h"
#include "sextant/runtime/passes/variable_touches.h"

namespace sextant {
namespace {

size_t IdOf(const Node* node) { return static_cast<size_t>(node->id()); }

const Node* ChangedVariable(const Node& node) {
  if (!node.op().stateful() || OnlyReadsVariable(node) || node.num_outputs() != 0) return nullptr;
  for (const auto& [name, attr] : node.attrs()) {
    if (attr.Is<FuncAttr>() || attr.Is<std::vector<FuncAttr>>()) return nullptr;
  }
  const Node* variable = nullptr;
  for (const Output& input : node.inputs()) {
    if (input.dtype() != DType::kResource) continue;
    const Node& root = HandleRoot(input);
    if (root.type() != "VarHandleOp") return nullptr;
    if (variable == nullptr) variable = &root;
  }
  return variable;
}

class ControlRelaxer {
 public:
  ControlRelaxer(const std::vector<Node*>& order, const std::vector<bool>& copied,
                 const std::vector<int>& task, std::vector<std::vector<Node*>>& effects)
      : order_(order),
        copied_(copied),
        task_(task),
        effects_(effects),
        waits_(order.size()),
        owed_(order.size()) {
    result_.changes.assign(order.size(), false);
    result_.relaxed.assign(order.size(), false);
    result_.keeps_order.assign(order.size(), false);
    result_.not_before.resize(order.size());
    result_.task = task;
  }

  RelaxedControls Relax() {
    FindChanges();
    if (changes_.empty()) return {};
    result_.any = true;
    FindNodesThatKeepOrder();
    for (Node* node : order_) {
      if (!copied_[IdOf(node)]) HandOn(node);
    }
    return std::move(result_);
  }

 private:
  using Set = std::vector<uint64_t>;  // of positions in changes_; may be shorter

  template <typename F>
  void ForEachBefore(const Node* node, F&& f) const {
    for (const Output& input : node->inputs()) f(input.node());
    for (const Node* control : node->control_inputs()) f(control);
    for (const Node* earlier : effects_[IdOf(node)]) f(earlier);
  }

  void FindChanges() {
    number_.assign(order_.size(), 0);
    std::vector<bool> behind_change(order_.size());
    for (Node* node : order_) {
      const size_t id = IdOf(node);
      ForEachBefore(node, [&](const Node* on) {
        if (result_.changes[IdOf(on)] || behind_change[IdOf(on)]) behind_change[id] = true;
      });
      if (copied_[id] || task_[id] == 0) continue;
      const bool change = ChangedVariable(*node) != nullptr;
      const bool idle =
          OnlyReadsVariable(*node) || node->type() == "Identity" || node->type() == "NoOp";
      result_.relaxed[id] = change || (idle && behind_change[id]);
      if (!change) continue;
      result_.changes[id] = true;
      number_[id] = changes_.size();
      changes_.push_back(node);
    }
  }

  void FindNodesThatKeepOrder() {
    std::vector<bool> followed(order_.size()), leads_to_change(order_.size());
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      const Node* node = *it;
      const size_t id = IdOf(node);
      const bool last = !leads_to_change[id];
      const bool change = result_.changes[id];
      const bool computes = !node->op().stateful() || OnlyReadsVariable(*node);
      result_.keeps_order[id] =
          !followed[id] ||
          (change ? last || !IsFloating(ChangedVariable(*node)->attr<DType>("dtype")) : !computes);
      ForEachBefore(node, [&](const Node* on) {
        followed[IdOf(on)] = true;
        if (change || leads_to_change[id]) leads_to_change[IdOf(on)] = true;
      });
    }
  }

  static void Add(Set& set, const Set& more) {
    if (set.size() < more.size()) set.resize(more.size());
    for (size_t i = 0; i < more.size(); ++i) set[i] |= more[i];
  }
  void AddChange(Set& set, const Node* change) const {
    const size_t number = number_[IdOf(change)];
    if (set.size() <= number / 64) set.resize(number / 64 + 1);
    set[number / 64] |= uint64_t{1} << (number % 64);
  }
  template <typename F>
  void ForEachOf(const Set& set, F&& f) const {
    for (size_t i = 0; i < set.size(); ++i) {
      for (uint64_t bits = set[i]; bits != 0; bits &= bits - 1)
        f(changes_[i * 64 + static_cast<size_t>(std::countr_zero(bits))]);
    }
  }

  void HandOn(Node* node) {
    const size_t id = IdOf(node);
    Set waits, owed;
    const auto add = [&](const Node* on, Set& set) {
      if (copied_[IdOf(on)]) return;
      Add(set, waits_[IdOf(on)]);
      if (result_.changes[IdOf(on)]) AddChange(set, on);
      Add(owed, owed_[IdOf(on)]);
    };
    for (const Output& input : node->inputs()) add(input.node(), waits);
    for (const Node* control : node->control_inputs())
      add(control, result_.Ignores(control, node) ? owed : waits);
    for (const Node* earlier : effects_[id]) add(earlier, waits);
    for (size_t i = 0; i < std::min(owed.size(), waits.size()); ++i) owed[i] &= ~waits[i];
    if (result_.keeps_order[id]) {
      ForEachOf(owed, [&](Node* change) { effects_[id].push_back(change); });
      Add(waits, owed);
      owed.clear();
    } else if (result_.changes[id]) {
      ForEachOf(owed, [&](const Node* change) { result_.not_before[id].push_back(change); });
    }
    waits_[id] = std::move(waits);
    owed_[id] = std::move(owed);
  }

  const std::vector<Node*>& order_;
  const std::vector<bool>& copied_;
  const std::vector<int>& task_;
  std::vector<std::vector<Node*>>& effects_;
  std::vector<Node*> changes_;
  std::vector<size_t> number_;  // by id, of changes
  // By id: changes that lead to the node and that it waits for, and those that it does not.
  std::vector<Set> waits_, owed_;
  RelaxedControls result_;
};

}  // namespace

RelaxedControls RelaxControls(const std::vector<Node*>& order, const std::vector<bool>& copied,
                              const std::vector<int>& task,
                              std::vector<std::vector<Node*>>& effects) {
  return ControlRelaxer(order, copied, task, effects).Relax();
}

}  // namespace sextant
