// A model with batch normalisation builds its train op behind its moving averages. Example, w0 and
// the average m0 on ps 0, w1 and m1 on ps 1, the step on ps 0:
//
//   m0, m1 ··> gradients here ─> w0, w1 ··> step          ··> a control edge
//
// Edge by edge that is a call for the averages and another for the weights on each server, and the
// gradients wait for both servers. No value depends on it: what a Run reads of a variable is
// settled by the order of the nodes that touch this variable (effect_order.h), whatever else runs
// between. So an edge from an update, one of the changes that optimizers and moving averages of the
// library have marked (graph/update_mark.h), or from a read, copy or group of such alone, counts
// for nothing but
//
// - the update that counts the step, and every node with effects that is no update, as a
//   change or a read of the user's, an Assert or a Print: they wait for all that led to them, as
//   the step does here for w0, w1, m0 and m1;
// - other updates: those of another task may run at the same time, w0 in the call of m0, but run no
//   earlier, except that they need not wait until the step is counted. They do wait for all that
//   led to them and is no update: where an Assert before m0 fails, w1 stays as it is.
//
// Every node hands on what its predecessors did not wait for, as a set of bits, to the first that
// does.
#include "sextant/runtime/relaxed_controls.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sextant/graph/function_node.h"
#include "sextant/graph/update_mark.h"
#include "sextant/runtime/effect_order.h"
#include "sextant/runtime/passes/variable_touches.h"

namespace sextant {
namespace {

size_t IdOf(const Node* node) { return static_cast<size_t>(node->id()); }

bool IsMarked(const Node& node) { return GetUpdateMark(node) != UpdateMark::kNone; }

// A mark that came with a graph may be on any node.
bool UpdatesVariables(const Node& node) {
  if (!IsMarked(node) || OnlyReadsVariable(node) || node.num_outputs() != 0) return false;
  if (RunsFunctions(node)) return false;
  bool any = false;
  for (const Output& input : node.inputs()) {
    if (input.dtype() != DType::kResource) continue;
    if (HandleRoot(input).type() != "VarHandleOp") return false;
    any = true;
  }
  return any;
}

// Whether it may run at any time that its inputs allow.
bool OnlyComputes(const Node& node) {
  return !node.op().stateful() || (OnlyReadsVariable(node) && IsMarked(node));
}

class ControlRelaxer {
 public:
  ControlRelaxer(const std::vector<Node*>& order, const std::vector<bool>& copied,
                 const std::vector<int>& task, std::vector<std::vector<Node*>>& effects)
      : order_(order),
        copied_(copied),
        task_(task),
        effects_(effects),
        counts_(order.size()),
        number_(order.size(), kNone),
        waits_(order.size()),
        owed_(order.size()) {
    result_.changes.assign(order.size(), false);
    result_.relaxed.assign(order.size(), false);
    result_.keeps_order.assign(order.size(), false);
    result_.not_before.resize(order.size());
    result_.task = task;
  }

  RelaxedControls Relax() {
    FindUpdates();
    if (!result_.any) return {};
    FindNodesThatKeepOrder();
    NumberEffects();
    for (Node* node : order_) {
      if (!copied_[IdOf(node)]) HandOn(node);
    }
    return std::move(result_);
  }

 private:
  using Set = std::vector<uint64_t>;  // of positions in with_effects_; may be shorter
  static constexpr size_t kNone = SIZE_MAX;

  void FindUpdates() {
    for (const Node* node : order_) {
      const size_t id = IdOf(node);
      if (copied_[id] || task_[id] == 0) continue;
      const bool updates = UpdatesVariables(*node);
      result_.changes[id] = updates;
      result_.any = result_.any || updates;
      counts_[id] = updates && GetUpdateMark(*node) == UpdateMark::kCount;
      result_.relaxed[id] = updates || FollowsUpdatesAlone(*node);
    }
  }
  bool FollowsUpdatesAlone(const Node& node) const {
    if (!OnlyReadsVariable(node) && node.type() != "Identity" && node.type() != "NoOp")
      return false;
    bool any = false, all = true;
    const auto add = [&](const Node* on) {
      if (copied_[IdOf(on)]) return;
      any = true;
      all = all && result_.relaxed[IdOf(on)];
    };
    for (const Output& input : node.inputs()) add(input.node());
    for (const Node* control : node.control_inputs()) add(control);
    return any && all;
  }

  void FindNodesThatKeepOrder() {
    std::vector<bool> followed(order_.size());
    for (const Node* node : order_) {
      for (const Output& input : node->inputs()) followed[IdOf(input.node())] = true;
      for (const Node* control : node->control_inputs()) followed[IdOf(control)] = true;
      for (const Node* earlier : effects_[IdOf(node)]) followed[IdOf(earlier)] = true;
    }
    for (const Node* node : order_) {
      const size_t id = IdOf(node);
      const bool waits = result_.changes[id] ? counts_[id] : !OnlyComputes(*node);
      result_.keeps_order[id] = waits || !followed[id];
    }
  }

  void NumberEffects() {
    for (Node* node : order_) {
      if (copied_[IdOf(node)] || !node->op().stateful() || OnlyReadsVariable(*node)) continue;
      number_[IdOf(node)] = with_effects_.size();
      with_effects_.push_back(node);
    }
  }

  static void Add(Set& set, const Set& more) {
    if (set.size() < more.size()) set.resize(more.size());
    for (size_t i = 0; i < more.size(); ++i) set[i] |= more[i];
  }
  static void Remove(Set& set, const Set& less) {
    for (size_t i = 0; i < std::min(set.size(), less.size()); ++i) set[i] &= ~less[i];
  }
  void AddNode(Set& set, const Node* node) const {
    const size_t number = number_[IdOf(node)];
    if (number == kNone) return;
    if (set.size() <= number / 64) set.resize(number / 64 + 1);
    set[number / 64] |= uint64_t{1} << (number % 64);
  }
  template <typename F>
  void ForEachOf(const Set& set, F&& f) const {
    for (size_t i = 0; i < set.size(); ++i) {
      for (uint64_t bits = set[i]; bits != 0; bits &= bits - 1)
        f(with_effects_[i * 64 + static_cast<size_t>(std::countr_zero(bits))]);
    }
  }

  void HandOn(Node* node) {
    const size_t id = IdOf(node);
    Set waits, owed;
    const auto add = [&](const Node* on, Set& set) {
      if (copied_[IdOf(on)]) return;
      Add(set, waits_[IdOf(on)]);
      AddNode(set, on);
      Add(owed, owed_[IdOf(on)]);
    };
    for (const Output& input : node->inputs()) add(input.node(), waits);
    for (const Node* control : node->control_inputs())
      add(control, result_.Ignores(control, node) ? owed : waits);
    for (const Node* earlier : effects_[id]) add(earlier, waits);
    Remove(owed, waits);
    Set awaited;
    ForEachOf(owed, [&](Node* other) {
      if (result_.keeps_order[id] || (result_.changes[id] && !result_.changes[IdOf(other)])) {
        effects_[id].push_back(other);
        AddNode(awaited, other);
      } else if (result_.changes[id] && !counts_[IdOf(other)]) {
        result_.not_before[id].push_back(other);
      }
    });
    Add(waits, awaited);
    Remove(owed, awaited);
    waits_[id] = std::move(waits);
    owed_[id] = std::move(owed);
  }

  const std::vector<Node*>& order_;
  const std::vector<bool>& copied_;
  const std::vector<int>& task_;
  std::vector<std::vector<Node*>>& effects_;
  std::vector<bool> counts_;  // by id: the updates that count the step
  std::vector<Node*> with_effects_;
  std::vector<size_t> number_;  // by id: the position in with_effects_
  // By id: nodes with effects that lead to it and that it waits for, and those that it does not.
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
