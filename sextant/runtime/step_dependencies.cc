// The dependencies of steps that may run at the same time: those of the data-flow graph, and those
// that keep effects in program order. A variable is treated as a compiler treats a memory cell: a
// write waits for the writes and reads before it (output and anti dependencies), a read for the
// write before it (flow dependency), reads wait for nobody.
//
//   0: r = Read(v)         before: nothing
//   1: y = r * 2           before: 0
//   2: AssignAdd(v, 1)     before: 0 and 1, because r shares the buffer of v: without 1 the update
//                          would have to copy it
//   3: s = Read(v)         before: 2
//
// Invariant: steps of which neither depends on the other, directly or through others, touch no
// common slot, variable or table of which one changes it. What cannot be told apart (functions with
// effects, queues, sends, handles made in the run) is ordered towards everything.
//
// Bernstein, Analysis of programs for parallel processing, 1966.
#include "sextant/runtime/step_dependencies.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>

#include "sextant/graph/passes/copy_subgraph.h"

namespace sextant {
namespace {

constexpr int32_t kNone = -1;

bool OnlyReads(const std::string& type) {
  return type == "ReadVariableOp" || type == "VariableShape" || type == "VarIsInitializedOp" ||
         type == "ResourceGather" || type == "ResourceGatherNd" || type == "LookupTableFindV2" ||
         type == "LookupTableSizeV2";
}

class DependencyFinder {
 public:
  explicit DependencyFinder(const Plan& plan)
      : plan_(plan),
        before_(plan.steps.size()),
        maker_(plan.num_slots, kNone),
        value_of_(plan.num_slots, kNone),
        readers_(plan.num_slots) {}

  std::vector<std::vector<int32_t>> Find() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      const Step& step = plan_.steps[i];
      for (const Output& input : step.node->inputs()) AddAll(index, StepsOf(input.node()));
      for (const Node* node : step.node->control_inputs()) AddAll(index, StepsOf(node));
      FollowEffects(index);
      for (size_t o = 0; o < step.io.outputs.size(); ++o) {
        const int32_t slot = step.io.outputs[o], alias = step.io.alias[o];
        maker_[slot] = index;
        // Slots that share a buffer have one value.
        value_of_[slot] = alias < 0 ? slot : value_of_[step.io.inputs[alias]];
        if (value_of_[slot] < 0) value_of_[slot] = slot;
      }
      for (const int32_t slot : step.io.inputs) {
        if (value_of_[slot] >= 0) readers_[value_of_[slot]].push_back(index);
      }
      step_of_[step.node] = index;
      auto& before = before_[i];
      std::ranges::sort(before);
      before.erase(std::unique(before.begin(), before.end()), before.end());
    }
    return std::move(before_);
  }

 private:
  // How the steps so far use a variable or table.
  struct Use {
    int32_t change = kNone;
    std::vector<int32_t> reads;  // since then
  };

  // The step of a node; of a node without one, those of all that it follows.
  const std::vector<int32_t>& StepsOf(const Node* node) {
    const auto [it, added] = steps_of_.try_emplace(node);
    std::vector<int32_t>& steps = it->second;
    if (!added) return steps;
    if (const auto own = step_of_.find(node); own != step_of_.end()) {
      steps.push_back(own->second);
      return steps;
    }
    std::vector<int32_t> found;
    for (const Output& input : node->inputs())
      std::ranges::copy(StepsOf(input.node()), std::back_inserter(found));
    for (const Node* control : node->control_inputs()) {
      std::ranges::copy(StepsOf(control), std::back_inserter(found));
    }
    return steps_of_[node] = std::move(found);
  }

  void Add(int32_t step, int32_t other) {
    if (other >= 0 && other != step) before_[step].push_back(other);
  }
  void AddAll(int32_t step, const std::vector<int32_t>& others) {
    for (const int32_t other : others) Add(step, other);
  }

  void FollowEffects(int32_t index) {
    const Step& step = plan_.steps[index];
    Add(index, barrier_);
    if (step.once) return;
    bool touches_all = step.kind == StepKind::kSend || step.kind == StepKind::kReceive ||
                       (!step.branches.empty() && step.node->op().stateful());
    bool has_handle = false;
    for (int i = 0; i < step.node->num_inputs(); ++i) {
      if (step.node->input(i).dtype() != DType::kResource) continue;
      has_handle = true;
      const int32_t maker = maker_[step.io.inputs[i]];
      if (maker < 0 || !plan_.steps[maker].once) {
        touches_all = true;
      } else {
        Touch(index, uses_[HandleName(*plan_.steps[maker].node)]);
      }
    }
    if (touches_all) {
      for (int32_t other = 0; other < index; ++other) Add(index, other);
      barrier_ = index;
    } else if (!has_handle && step.node->op().stateful()) {
      Add(index, last_stateful_);
      last_stateful_ = index;
    }
  }

  void Touch(int32_t index, Use& use) {
    Add(index, use.change);
    if (OnlyReads(plan_.steps[index].node->type())) {
      use.reads.push_back(index);
      return;
    }
    for (const int32_t read : use.reads) {
      Add(index, read);
      for (const int32_t slot : plan_.steps[read].io.outputs) AddAll(index, readers_[slot]);
    }
    use.reads.clear();
    use.change = index;
  }

  static std::string HandleName(const Node& handle) {
    const auto& shared = handle.attr<std::string>("shared_name");
    return handle.type() + ' ' + (shared.empty() ? handle.name() : shared);
  }

  const Plan& plan_;
  std::vector<std::vector<int32_t>> before_;
  std::vector<int32_t> maker_;                 // per slot
  std::vector<int32_t> value_of_;              // per slot: the first slot of its buffer
  std::vector<std::vector<int32_t>> readers_;  // per value
  std::unordered_map<const Node*, int32_t> step_of_;
  std::unordered_map<const Node*, std::vector<int32_t>> steps_of_;
  std::map<std::string, Use> uses_;
  int32_t barrier_ = kNone, last_stateful_ = kNone;
};

}  // namespace

std::vector<std::vector<int32_t>> StepDependencies(const Plan& plan) {
  return DependencyFinder(plan).Find();
}

std::vector<std::vector<int32_t>> EdgeDependencies(const Plan& plan) {
  std::vector<int32_t> step_of(plan.graph->num_nodes(), kNone);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    step_of[plan.steps[i].node->id()] = static_cast<int32_t>(i);
  }
  std::vector<std::vector<int32_t>> before(plan.steps.size());
  // Per node: its step, or those it follows where it has none.
  std::vector<std::vector<int32_t>> steps_of(plan.graph->num_nodes());
  for (const Node* node : TopologicalOrder(*plan.graph)) {
    std::vector<int32_t> found;
    for (const Output& input : node->inputs()) {
      std::ranges::copy(steps_of[input.node()->id()], std::back_inserter(found));
    }
    for (const Node* control : node->control_inputs()) {
      std::ranges::copy(steps_of[control->id()], std::back_inserter(found));
    }
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    const int32_t step = step_of[node->id()];
    if (step == kNone) {
      steps_of[node->id()] = std::move(found);
    } else {
      steps_of[node->id()] = {step};
      before[step] = std::move(found);
    }
  }
  return before;
}

}  // namespace sextant
