#include "sextant/runtime/step_emitter.h"

#include <algorithm>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/deadness.h"
#include "sextant/runtime/memory_planner.h"
#include "sextant/runtime/node_kernel.h"

namespace sextant {
namespace {

constexpr int32_t kNever = -1;
// Larger tensors are left to the allocator to refuse: the sizes of all that is planned must add up.
constexpr int64_t kMaxPlannedElements = int64_t{1} << 40;
// In lanes no place in the arena is used twice, and only Plans of many small steps gain by them.
constexpr int64_t kMostLaneBytes = int64_t{8} << 20;
constexpr size_t kFewestLaneSteps = 24, kMostLaneSteps = 1024;

// Handles of what lives in the session for good.
bool IsHandle(const Node& node) {
  const std::string& type = node.type();
  return type == "VarHandleOp" || type == "HashTableV2" || type == "IteratorV2";
}

// How a slot gets its tensor.
enum class Storage : uint8_t { kDynamic, kConstant, kArena };

struct SlotInfo {
  Storage storage = Storage::kDynamic;
  DType dtype = DType::kInvalid;
  PartialShape shape;
  int32_t defined = kNever;   // step that makes it; kNever: there from the start
  int32_t last_use = kNever;  // last step that reads it
  int32_t group = kNever;     // slots that share a buffer by registration: the first of them
  int32_t unit = kNever;      // index of its place in the arena
  int32_t readers = 0;        // steps that read it
  bool fetched = false;
  bool fed = false;
  bool shared = false;  // the group has a member whose tensor must outlive the step
};

class StepEmitter {
 public:
  StepEmitter(std::unique_ptr<Graph> graph, const Node* sink, const std::vector<Output>& feeds,
              const PlanRequest& request, const PlanEnvironment& environment,
              const Analysis& analysis)
      : plan_(std::make_shared<Plan>()),
        sink_(sink),
        feeds_(feeds),
        request_(request),
        environment_(environment),
        analysis_(analysis) {
    plan_->graph = std::move(graph);
  }

  std::shared_ptr<const Plan> Emit() {
    order_ = TopologicalOrder(*plan_->graph);
    CheckOrder();
    FindConditionals();
    AssignSlots();
    MakeSteps();
    FindLastUses();
    GroupAliases();
    ChooseLanes();
    PlanMemory();
    FillIo();
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
        info.fed = node->type() == "_Feed";
        if (node->type() == "Const" && Skipped(*node)) {
          info.storage = Storage::kConstant;
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
      slots_[slot].defined = static_cast<int32_t>(plan_->steps.size()) - 1;
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

  void Classify(const Node& node, Step& step) {
    const std::string& type = node.type();
    if (type == "Switch") {
      step.kind = StepKind::kSwitch;
    } else if (type == "Merge") {
      step.kind = StepKind::kMerge;
    } else if (type == "_Send" || type == "_Recv") {
      step.kind = type == "_Send" ? StepKind::kSend : StepKind::kReceive;
      step.key = node.attr<std::string>("key");
    } else if (const auto it = analysis_.branches.find(&node); it != analysis_.branches.end()) {
      step.kind = type.ends_with("While")  ? StepKind::kWhile
                  : type.ends_with("Case") ? StepKind::kCase
                                           : StepKind::kIf;
      step.branches = it->second;
    } else {
      step.kernel = &FindKernel(node, *step.device);
    }
  }

  // ---- lifetimes

  void FindLastUses() {
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      for (int32_t slot : plan_->steps[i].io.inputs) {
        const auto index = static_cast<int32_t>(i);
        if (slots_[slot].last_use != index) ++slots_[slot].readers;
        slots_[slot].last_use = index;
      }
    }
  }

  // The input of the step whose buffer output "o" shares by registration, or -1.
  static int32_t AliasInput(const Step& step, int32_t o) {
    if (step.kind == StepKind::kSwitch) return 0;
    if (!step.kernel) return kNever;
    for (const auto& [output, input] : step.kernel->alias()) {
      if (output == o) return input;
    }
    return kNever;
  }

  void GroupAliases() {
    for (size_t s = 0; s < slots_.size(); ++s) slots_[s].group = static_cast<int32_t>(s);
    for (Step& step : plan_->steps) {
      for (size_t o = 0; o < step.io.outputs.size(); ++o) {
        const int32_t input = AliasInput(step, static_cast<int32_t>(o));
        step.io.alias.push_back(input);
        if (input >= 0) {
          slots_[step.io.outputs[o]].group = slots_[step.io.inputs[input]].group;
        }
      }
    }
    for (const SlotInfo& slot : slots_) {
      SlotInfo& root = slots_[slot.group];
      root.last_use = std::max(root.last_use, slot.last_use);
      root.shared = root.shared || slot.fetched;
    }
  }

  // ---- memory

  void ChooseLanes() {
    const size_t steps = plan_->steps.size();
    if (environment_.optimizer.lanes == LaneUse::kNever || plan_->has_conditionals) return;
    plan_->always_in_lanes = environment_.optimizer.lanes == LaneUse::kAlways;
    if (!plan_->always_in_lanes && (steps < kFewestLaneSteps || steps > kMostLaneSteps)) return;
    int64_t bytes = 0;
    for (const Step& step : plan_->steps) {
      for (const int32_t slot : step.io.outputs) {
        if (Plannable(step, slot)) bytes += Bytes(slots_[slot]);
      }
    }
    plan_->suits_lanes = bytes <= kMostLaneBytes;
  }

  static int64_t Bytes(const SlotInfo& info) {
    return static_cast<int64_t>(info.shape.num_elements()) *
           static_cast<int64_t>(DTypeSize(info.dtype));
  }

  bool Plannable(const Step& step, int32_t slot) const {
    const SlotInfo& info = slots_[slot];
    return environment_.optimizer.static_memory && step.kernel && !step.kernel->own_outputs() &&
           info.group == slot && !info.shared && IsPlain(info.dtype) && info.shape.fully_known() &&
           info.shape.num_elements() <= kMaxPlannedElements;
  }

  void PlanMemory() {
    std::vector<Lifetime> units;
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      Step& step = plan_->steps[i];
      for (size_t o = 0; o < step.io.outputs.size(); ++o) {
        const int32_t slot = step.io.outputs[o];
        SlotInfo& info = slots_[slot];
        if (!Plannable(step, slot)) continue;
        info.storage = Storage::kArena;
        const int64_t bytes = Bytes(info);
        const int32_t last = plan_->suits_lanes ? static_cast<int32_t>(plan_->steps.size())
                                                : std::max(info.last_use, static_cast<int32_t>(i));
        info.unit =
            InPlaceUnit(step, static_cast<int32_t>(i), static_cast<int32_t>(o), bytes, units);
        if (info.unit == kNever) {
          info.unit = static_cast<int32_t>(units.size());
          units.push_back({bytes, static_cast<int32_t>(i), last, 0});
        } else {
          units[info.unit].last = std::max(units[info.unit].last, last);
        }
      }
    }
    plan_->arena_bytes = PlanArena(units);
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].storage != Storage::kArena) continue;
      PreparedSlot prepared;
      prepared.slot = static_cast<int32_t>(s);
      prepared.dtype = slots_[s].dtype;
      prepared.shape = slots_[s].shape.AsShape();
      prepared.offset = units[slots_[s].unit].offset;
      plan_->prepared.push_back(std::move(prepared));
    }
  }

  // The place of an input that ends at this step and that the kernel may overwrite with output "o".
  int32_t InPlaceUnit(const Step& step, int32_t index, int32_t o, int64_t bytes,
                      const std::vector<Lifetime>& units) const {
    if (plan_->suits_lanes) return kNever;
    for (const auto& [output, input] : step.kernel->in_place()) {
      if (output != o || input >= static_cast<int32_t>(step.io.inputs.size())) continue;
      const int32_t slot = step.io.inputs[input];
      const int32_t unit = slots_[slots_[slot].group].unit;
      if (unit == kNever || units[unit].last != index || units[unit].bytes != bytes) continue;
      bool exclusive = true;
      for (int32_t other : step.io.inputs) {
        if (other != slot && slots_[slots_[other].group].unit == unit) exclusive = false;
      }
      for (int32_t other : step.io.outputs) {
        if (slots_[other].unit == unit) exclusive = false;
      }
      if (exclusive) return unit;
    }
    return kNever;
  }

  // ---- what the kernels see

  void FillIo() {
    plan_->prepared_slots.resize(slots_.size());
    for (const PreparedSlot& p : plan_->prepared) plan_->prepared_slots[p.slot] = true;
    for (const Step& step : plan_->steps) {
      if (step.once) plan_->prepared_slots[step.io.outputs[0]] = true;
    }
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (!plan_->prepared_slots[s]) plan_->dynamic_slots.push_back(static_cast<int32_t>(s));
    }
    for (size_t i = 0; i < plan_->steps.size(); ++i) {
      Step& step = plan_->steps[i];
      const auto index = static_cast<int32_t>(i);
      for (int32_t slot : step.io.inputs) {
        const bool last =
            slots_[slot].last_use == index && !slots_[slot].fetched && !plan_->prepared_slots[slot];
        step.io.last_use.push_back(last && (slots_[slot].readers == 1 || !plan_->suits_lanes));
        if (last && std::ranges::find(step.release, slot) == step.release.end()) {
          step.release.push_back(slot);
        }
      }
      for (size_t o = 0; o < step.io.outputs.size(); ++o) {
        const int32_t slot = step.io.outputs[o];
        step.io.prepared.push_back(plan_->prepared_slots[slot] && !step.once);
        step.io.in_place.push_back(DynamicInPlace(step, static_cast<int32_t>(o)));
        if (slots_[slot].last_use < index && !slots_[slot].fetched &&
            !plan_->prepared_slots[slot]) {
          step.release.push_back(slot);
        }
      }
    }
  }

  static int32_t DynamicInPlace(const Step& step, int32_t o) {
    if (!step.kernel) return kNever;
    for (const auto& [output, input] : step.kernel->in_place()) {
      if (output == o && input < static_cast<int32_t>(step.io.inputs.size()) &&
          step.io.last_use[input]) {
        return input;
      }
    }
    return kNever;
  }

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
                                     const PlanEnvironment& environment, const Analysis& analysis) {
  return StepEmitter(std::move(graph), sink, feeds, request, environment, analysis).Emit();
}

}  // namespace sextant
