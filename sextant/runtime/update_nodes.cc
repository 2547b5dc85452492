// Everything on other tasks that changes state and waits for a mark, and what leads from a mark to
// it, is the update; so is what changes a variable before the update does, as the decay of Adam's
// averages before rows are added to them. Example, w on ps 1, the step and a moving average of w on
// ps 0:
//
//   here                     ps 1                          ps 0
//   g = gradient of w  ──>   mark ─> ApplySgd w ───────┬─> AssignAdd step       stage 1
//                            (stage 0)                 └─> AssignSub average    stage 1
//   "loss" after train <·····························  the edge means: contributed
//
// Three kinds of node need care.
// - Reads of other tasks behind the update whose values come here, as the step that hooks fetch,
//   lead to no change: each caller makes them by itself.
// - Nodes here with only a control edge from the update, as those built inside ControlDependencies,
//   give the same value without: the edge does not count where the update needs them.
// - Nodes here that compute with values of the update, for the update, move to the task of the
//   reader.
// What is computed from variables of a server, for its update alone, is computed there. Scalars are
// not, they are sent: a learning rate that follows the step is fetched in some runs, for logs, and
// not in others, and all runs must contribute to the same update.
//
// In deterministic training all changes of variables are of the update, also those that no mark
// leads to, as moving averages of batch normalisation: they are made once, by what the first worker
// has brought (device/remote_task.h). Made by each worker for itself, their order would be that of
// arrival, and a step that is run again would make them twice.
#include "sextant/runtime/update_nodes.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/gradient_mark.h"
#include "sextant/runtime/passes/variable_touches.h"

namespace sextant {
namespace {

size_t Id(const Node* node) { return static_cast<size_t>(node->id()); }

bool ChangesState(const Node& node) { return node.op().stateful() && !OnlyReadsVariable(node); }
// Its value depends on its inputs alone.
bool IsPure(const Node& node) { return !node.op().stateful() && node.type() != "NoOp"; }
bool IsScalar(const Node& node) {
  if (node.num_outputs() != 1) return false;
  const PartialShape& shape = node.output_shape(0);
  return shape.rank_known() && shape.rank() == 0;
}

class UpdateFinder {
 public:
  UpdateFinder(const std::vector<Node*>& order, const std::vector<bool>& copied,
               const std::vector<std::vector<Node*>>& effects, std::vector<int>& task)
      : order_(order),
        copied_(copied),
        effects_(effects),
        task_(task),
        given_task_(task),
        begins_(order.size()),
        value_behind_(order.size()),
        reader_(order.size()) {
    bool deterministic = false;
    for (const Node* node : order_) {
      if (!IsGradientMark(*node)) continue;
      begins_[Id(node)] = any_mark_ = true;
      deterministic = deterministic || GetGradientMark(*node).deterministic;
    }
    if (!deterministic) return;
    for (const Node* node : order_) {
      if (!Here(node) && ChangesState(*node) && node->num_outputs() == 0) begins_[Id(node)] = true;
    }
  }

  UpdateNodes Find() {
    if (!any_mark_) return {};
    do {
      Reset();
      FindBehind();
      Collect();
      if (!result_.any) return {};
    } while (FindEarlierChanges());
    PullComputations();
    AssignStages();
    CheckValuesStay();
    FindFollowers();
    return std::move(result_);
  }

 private:
  static constexpr int kNobody = -1;

  bool Here(const Node* node) const { return task_[Id(node)] == 0; }
  bool IsUpdate(const Node* node) const { return result_.stage[Id(node)] != UpdateNodes::kNone; }

  void Reset() {
    task_ = given_task_;
    result_.any = false;
    result_.stage.assign(order_.size(), UpdateNodes::kNone);
    result_.behind.assign(order_.size(), false);
    result_.follows.assign(order_.size(), false);
    result_.leads.assign(order_.size(), false);
    value_behind_.assign(order_.size(), false);
    reader_.assign(order_.size(), kNobody);
  }

  void FindBehind() {
    for (const Node* node : order_) {
      bool behind = begins_[Id(node)], value_behind = behind;
      for (const Output& input : node->inputs()) {
        behind = behind || result_.behind[Id(input.node())];
        value_behind = value_behind || value_behind_[Id(input.node())];
      }
      for (const Node* control : node->control_inputs())
        behind = behind || result_.behind[Id(control)];
      if (copied_[Id(node)]) continue;
      result_.behind[Id(node)] = behind;
      value_behind_[Id(node)] = value_behind || (behind && (!Here(node) || !IsPure(*node)));
    }
  }

  // From the back: what is part of the update, and what leads to it.
  void Collect() {
    std::vector<bool> needed(order_.size());  // by the update, or by what leads to it
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      Node* node = *it;
      if (copied_[Id(node)]) continue;
      const bool behind = result_.behind[Id(node)];
      bool update = !Here(node) && behind && (ChangesState(*node) || reader_[Id(node)] != kNobody);
      if (Here(node) && reader_[Id(node)] != kNobody && value_behind_[Id(node)]) {
        if (node->op().stateful()) {
          throw Unimplemented(
              "[{} {}] of this task is in the middle of a synchronous update: it waits for updates "
              "of variables on other tasks, and others of them wait for it. Put it on the task of "
              "the variables, or take it out of the update",
              node->type(), node->name());
        }
        task_[Id(node)] = reader_[Id(node)];
        update = true;
      }
      if (update) {
        result_.stage[Id(node)] = 0;
        result_.any = true;
        for (const Output& input : node->inputs()) SetReader(input.node(), task_[Id(node)], needed);
        for (Node* control : node->control_inputs()) SetReader(control, task_[Id(node)], needed);
        continue;
      }
      if (!needed[Id(node)]) continue;
      result_.leads[Id(node)] = true;
      for (const Output& input : node->inputs()) needed[Id(input.node())] = true;
      for (const Node* control : node->control_inputs()) {
        if (!result_.Ignores(control, node)) needed[Id(control)] = true;
      }
    }
  }
  void SetReader(const Node* node, int task, std::vector<bool>& needed) {
    reader_[Id(node)] = task;
    needed[Id(node)] = true;
  }

  // What the update changes and something else changes before: whether there is more of it.
  bool FindEarlierChanges() {
    bool found = false;
    for (const Node* node : order_) {
      if (!IsUpdate(node)) continue;
      for (const Node* earlier : effects_[Id(node)]) {
        if (IsUpdate(earlier) || Here(earlier) || !ChangesState(*earlier)) continue;
        begins_[Id(earlier)] = found = true;
      }
    }
    return found;
  }

  // The task whose variables, and nothing else, the node is computed from.
  std::vector<int> SourceTasks() const {
    std::vector<int> source(order_.size(), kNobody);
    for (const Node* node : order_) {
      if (IsUpdate(node) || copied_[Id(node)] || !node->control_inputs().empty()) continue;
      if (node->type() == "ReadVariableOp") {
        if (!Here(node)) source[Id(node)] = task_[Id(node)];
        continue;
      }
      if (!IsPure(*node)) continue;
      int task = kNobody;
      bool one = true;
      for (const Output& input : node->inputs()) {
        if (copied_[Id(input.node())]) continue;
        const int from = source[Id(input.node())];
        one = one && from != kNobody && (task == kNobody || task == from);
        task = from;
      }
      if (one && (Here(node) || task_[Id(node)] == task)) source[Id(node)] = task;
    }
    return source;
  }

  void PullComputations() {
    const std::vector<int> source = SourceTasks();
    std::vector<bool> shared(order_.size());  // with what is not of the update, or of another task
    std::vector<int> readers(order_.size());
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      Node* node = *it;
      if (source[Id(node)] != kNobody && readers[Id(node)] > 0 && !shared[Id(node)] &&
          !IsScalar(*node)) {
        result_.stage[Id(node)] = 0;
        task_[Id(node)] = source[Id(node)];
      }
      const auto use = [&](const Node* input) {
        ++readers[Id(input)];
        if (!IsUpdate(node) || IsGradientMark(*node) || source[Id(input)] != task_[Id(node)])
          shared[Id(input)] = true;
      };
      for (const Output& input : node->inputs()) use(input.node());
      for (const Node* control : node->control_inputs()) use(control);
      // What changes the variable must be of the update too.
      for (const Node* earlier : effects_[Id(node)]) {
        if (!IsUpdate(node)) shared[Id(earlier)] = true;
      }
    }
  }

  void AssignStages() {
    std::vector<int> after(order_.size());  // of other nodes: the first stage that may wait for it
    for (const Node* node : order_) {
      int stage = 0;
      const auto wait = [&](const Node* on) {
        if (copied_[Id(on)]) return;
        const bool crosses = !IsUpdate(node) || task_[Id(on)] != task_[Id(node)];
        stage = std::max(stage,
                         IsUpdate(on) ? result_.stage[Id(on)] + (crosses ? 1 : 0) : after[Id(on)]);
      };
      for (const Output& input : node->inputs()) wait(input.node());
      for (const Node* control : node->control_inputs()) wait(control);
      for (const Node* earlier : effects_[Id(node)]) {
        if (IsUpdate(node) && IsUpdate(earlier)) wait(earlier);
      }
      (IsUpdate(node) ? result_.stage[Id(node)] : after[Id(node)]) = stage;
    }
  }

  void CheckValuesStay() const {
    for (const Node* node : order_) {
      for (const Output& input : node->inputs()) {
        const Node* from = input.node();
        if (!IsUpdate(from)) continue;
        if (IsUpdate(node) && task_[Id(from)] == task_[Id(node)] &&
            result_.stage[Id(from)] == result_.stage[Id(node)])
          continue;
        throw Unimplemented(
            "[{} {}] reads {} of a synchronous update, which all workers run together, later: {}",
            node->type(), node->name(), input.name(),
            IsUpdate(node) ? "put both on one task" : "read the variable again instead");
      }
    }
  }

  void FindFollowers() {
    for (const Node* node : order_) {
      if (IsUpdate(node) || copied_[Id(node)]) continue;
      bool follows = false;
      const auto wait = [&](const Node* on) {
        follows = follows || IsUpdate(on) || result_.follows[Id(on)];
      };
      for (const Output& input : node->inputs()) wait(input.node());
      for (const Node* control : node->control_inputs()) {
        if (!result_.Ignores(control, node)) wait(control);
      }
      for (const Node* earlier : effects_[Id(node)]) wait(earlier);
      result_.follows[Id(node)] = follows;
    }
  }

  const std::vector<Node*>& order_;
  const std::vector<bool>& copied_;
  const std::vector<std::vector<Node*>>& effects_;
  std::vector<int>& task_;
  const std::vector<int> given_task_;
  std::vector<bool> begins_;  // by id: a mark, or a change that must come before those behind marks
  std::vector<bool> value_behind_;  // by id: computed from a mark, not only after it
  std::vector<int> reader_;         // by id: the task of a node of the update that needs it
  bool any_mark_ = false;
  UpdateNodes result_;
};

}  // namespace

bool UpdateNodes::Ignores(const Node* earlier, const Node* later) const {
  if (!any) return false;
  if (Has(later)) return Has(earlier) || follows[Id(earlier)];
  return leads[Id(later)] && behind[Id(earlier)];
}

UpdateNodes FindUpdateNodes(const std::vector<Node*>& order, const std::vector<bool>& copied,
                            const std::vector<std::vector<Node*>>& effects,
                            std::vector<int>& task) {
  return UpdateFinder(order, copied, effects, task).Find();
}

}  // namespace sextant
