// The last stage of planning: from the optimised graph to the flat list of steps that a run walks.
// Nodes are put in topological order, by id among those that are free, so that the program order of
// effects is kept. Each output of a node gets a numbered slot of the frame; a node becomes a step
// that names its slots, with the kernel already chosen, so that nothing is looked up by name in a
// run.
//
//   x = Placeholder      slot 0, fed
//   c = Const            slot 1, filled when the frame is made: no step
//   y = Identity(x)      slot 0: no step, no slot
//   z = Add(y, c)        slot 2, step 0: Add 0 1 → 2
//   _sink reads z        fetch 0 is slot 2
//
// Invariant: every slot that a step reads is filled before it, by a feed, a constant or a step
// before it. Nodes behind a Switch may be dead in a run: they keep their steps, constants and
// identities included, with the slots and steps whose death is theirs (dead_slots, dead_steps).
//
// Which steps may run while another waits is found by blocking_order.h, the memory of the slots by
// slot_planner.h.
#include "sextant/runtime/step_emitter.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/deadness.h"
#include "sextant/runtime/blocking_order.h"
#include "sextant/runtime/lowered_branches.h"
#include "sextant/runtime/node_kernel.h"
#include "sextant/runtime/slot_planner.h"

namespace sextant {
namespace {

constexpr int32_t kNever = -1;

// Handles of what lives in the session for good.
bool IsHandle(const Node& node) {
  const std::string& type = node.type();
  return type == "VarHandleOp" || type == "HashTableV2" || type == "IteratorV2";
}

class StepEmitter {
 public:
  StepEmitter(std::unique_ptr<Graph> graph, const Node* sink, const std::vector<Output>& feeds,
              const PlanRequest& request, const PlanEnvironment& environment,
              const Analysis& analysis, std::vector<PlanCall> calls)
      : plan_(std::make_shared<Plan>()),
        sink_(sink),
        feeds_(feeds),
        request_(request),
        environment_(environment),
        analysis_(analysis) {
    plan_->graph = std::move(graph);
    plan_->calls = std::move(calls);
  }

  std::shared_ptr<const Plan> Emit() {
    order_ = TopologicalOrder(*plan_->graph);
    CheckOrder();
    FindConditionals();
    AssignSlots();
    MakeSteps();
    FindBlockingOrder(*plan_);
    PlanSlots(*plan_, slots_, environment_.optimizer);
    BindFeedsAndFetches();
    return plan_;
  }

 private:
  // ---- order and slots

  // All that a node reads is there by then: only this run's own feeds are given, and all loops are
  // structured.
  void CheckOrder() const {
    for (const Node* node : order_) {
      if (node->type() == "_Feed" && std::ranges::find(feeds_, node->output(0)) == feeds_.end()) {
        throw InvalidArgument("[{} {}] is not fed", node->type(), node->name());
      }
      if (node->type() == "NextIteration") {
        throw InvalidArgument("[{} {}] is in no loop", node->type(), node->name());
      }
    }
  }

  void FindConditionals() {
    Deadness deadness;
    maybe_dead_.resize(plan_->graph->num_nodes());
    for (const Node* node : order_) {
      deadness.Visit(*node);
      const bool conditional = node->type() == "Switch" || node->type() == "Merge";
      maybe_dead_[node->id()] = conditional || !deadness.AlwaysLive(*node);
      plan_->has_conditionals = plan_->has_conditionals || maybe_dead_[node->id()];
    }
  }

  bool Skipped(const Node& node) const {
    const std::string& type = node.type();
    if (&node == sink_ || type == "_Feed") return true;
    if (maybe_dead_[node.id()]) return false;
    return type == "Const" || type == "NoOp" || type == "ControlTrigger" || Forwarded(node);
  }

  // An Identity is its input: no step, no slot of its own.
  bool Forwarded(const Node& node) const {
    return node.type() == "Identity" && !maybe_dead_[node.id()];
  }

  int32_t Slot(Output output) const { return first_slot_[output.node()->id()] + output.index(); }

  void AssignSlots() {
    first_slot_.resize(plan_->graph->num_nodes());
    for (const Node* node : order_) {
      if (Forwarded(*node)) {
        first_slot_[node->id()] = Slot(node->input(0));
        continue;
      }
      first_slot_[node->id()] = static_cast<int32_t>(slots_.size());
      for (int i = 0; i < node->num_outputs(); ++i) {
        SlotInfo& info = slots_.emplace_back();
        info.dtype = RemoveRef(node->output_type(i));
        info.shape = node->output_shape(i);
        if (node->type() == "Const" && Skipped(*node)) {
          AddConstant(Slot(node->output(i)), node->attr<Tensor>("value"));
        }
      }
    }
    for (const Output& fetch : sink_->inputs()) slots_[Slot(fetch)].fetched = true;
    plan_->num_slots = static_cast<int32_t>(slots_.size());
  }

  void AddConstant(int32_t slot, const Tensor& value) {
    plan_->prepared.push_back({.slot = slot, .constant = value});
  }

  // ---- steps

  void MakeSteps() {
    step_of_.assign(plan_->graph->num_nodes(), kNever);
    plan_->steps.reserve(order_.size());
    for (const Node* node : order_) {
      if (Skipped(*node)) continue;
      request_.ThrowIfCancelled();
      step_of_[node->id()] = static_cast<int32_t>(plan_->steps.size());
      MakeStep(*node, plan_->steps.emplace_back());
    }
  }

  void MakeStep(const Node& node, Step& step) {
    step.node = &node;
    step.device = &FindDevice(node, environment_.devices);
    Classify(node, step);
    for (const Output& input : node.inputs()) step.io.inputs.push_back(Slot(input));
    for (int i = 0; i < node.num_outputs(); ++i) {
      const int32_t slot = Slot(node.output(i));
      step.io.outputs.push_back(slot);
      step.io.output_types.push_back(slots_[slot].dtype);
    }
    step.io.node_name = node.name();
    step.once = IsHandle(node) && !maybe_dead_[node.id()];
    if (maybe_dead_[node.id()] && node.type() != "ControlTrigger") {
      for (const Output& input : node.inputs()) {
        if (maybe_dead_[input.node()->id()]) step.dead_slots.push_back(Slot(input));
      }
      for (const Node* control : node.control_inputs()) {
        if (maybe_dead_[control->id()]) step.dead_steps.push_back(step_of_[control->id()]);
      }
    }
  }

  // None: the node has no Plans of its own.
  static std::optional<StepKind> KindOfBranches(std::string_view type) {
    if (type == "While" || type == "StatelessWhile") return StepKind::kWhile;
    if (type == "Case" || type == "StatelessCase") return StepKind::kCase;
    if (type == "If" || type == "StatelessIf") return StepKind::kIf;
    return std::nullopt;
  }

  void Classify(const Node& node, Step& step) {
    const std::string& type = node.type();
    if (type == "Switch") {
      step.kind = StepKind::kSwitch;
    } else if (type == "Merge") {
      step.kind = StepKind::kMerge;
    } else if (type == "_Send" || type == "_Recv") {
      step.kind = type == "_Send" ? StepKind::kSend : StepKind::kReceive;
      step.key = node.attr<std::string>("key");
    } else if (type == "_CallStart" || type == "_CallFinish") {
      step.kind = type == "_CallStart" ? StepKind::kCallStart : StepKind::kCallFinish;
      step.call = static_cast<int32_t>(node.attr<int64_t>("fragment"));
      for (const Output& input : node.inputs()) slots_[Slot(input)].sent = true;
    } else if (const std::optional<StepKind> kind = KindOfBranches(type)) {
      step.kind = *kind;
      const auto planned = analysis_.branches.find(&node);
      if (planned == analysis_.branches.end()) return;  // it is fetched, but dead in every run
      step.branches = planned->second;
      step.scalar_predicate = NeedsScalarPredicate(node, request_.lowered);
      if (step.kind != StepKind::kWhile) step.results = analysis_.branch_outputs.at(&node);
    } else {
      step.kernel = &FindKernel(node, *step.device);
    }
  }

  // ---- interface of the Plan

  void BindFeedsAndFetches() {
    for (const Output& feed : feeds_) {
      const SlotInfo& info = slots_[Slot(feed)];
      const bool read = info.last_use != kNever || info.fetched;
      plan_->feed_slots.push_back(read ? Slot(feed) : kNever);
    }
    for (int i = 0; i < sink_->num_inputs(); ++i) {
      const Output fetch = sink_->input(i);
      const bool same = request_.loop_body && i < static_cast<int>(request_.feeds.size()) &&
                        request_.fetches[i] == request_.feeds[i].tensor;
      plan_->passthrough.push_back(same ? i : kNever);
      plan_->fetch_slots.push_back(same ? kNever : Slot(fetch));
      plan_->fetch_names.push_back(request_.fetches[i].name());
      plan_->fetch_shapes.push_back(same ? request_.feeds[i].shape : fetch.shape());
    }
  }

  std::shared_ptr<Plan> plan_;
  const Node* sink_;
  const std::vector<Output>& feeds_;
  const PlanRequest& request_;
  const PlanEnvironment& environment_;
  const Analysis& analysis_;
  std::vector<Node*> order_;
  std::vector<bool> maybe_dead_;
  std::vector<int32_t> first_slot_;  // per node
  std::vector<int32_t> step_of_;     // per node
  std::vector<SlotInfo> slots_;
};

}  // namespace

std::shared_ptr<const Plan> EmitPlan(std::unique_ptr<Graph> graph, const Node* sink,
                                     const std::vector<Output>& feeds, const PlanRequest& request,
                                     const PlanEnvironment& environment, const Analysis& analysis,
                                     std::vector<PlanCall> calls) {
  return StepEmitter(std::move(graph), sink, feeds, request, environment, analysis,
                     std::move(calls))
      .Emit();
}

}  // namespace sextant
