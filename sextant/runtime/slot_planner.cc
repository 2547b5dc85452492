// The memory of a Plan, decided before it runs. A value whose size is known and that need not
// outlive the run gets a place in one arena per frame; places are reused by liveness
// (memory_planner.h), an output takes the place of an input that ends at its step where the kernel
// allows it, and slots that share a buffer by registration (Reshape) form a group that lives as
// long as its last member.
//
//   step 0: a = MatMul(x, w)     a at 0
//   step 1: b = Relu(a)          b at 0, in place: a ends here
//   step 2: c = Reshape(b)       group of b: no memory of its own
//   step 3: d = MatMul(c, v)     d at 64; b's place is free after this step
//   step 4: e = Tanh(d), fetched or sent to another task: never in the arena, so that it can be
//   kept
//
// Invariant: when a step writes a place, every step that reads what was there has ended. In a Plan
// that runs its steps in their order, that is liveness. In one that suits a schedule no place is
// used twice. In one whose steps may wait for each other it is liveness within a class of steps
// that keep their order (blocking_order.h), and no reuse across classes.
#include "sextant/runtime/slot_planner.h"

#include <algorithm>
#include <map>

#include "sextant/runtime/blocking_order.h"
#include "sextant/runtime/memory_planner.h"

namespace sextant {
namespace {

// Larger tensors are left to the allocator to refuse: the sizes of all that is planned must add up.
constexpr int64_t kMaxPlannedElements = int64_t{1} << 40;
// With a schedule no place in the arena is used twice, and only Plans of many small steps gain by
// it.
constexpr int64_t kMostScheduledBytes = int64_t{8} << 20;
constexpr size_t kFewestScheduledSteps = 24, kMostScheduledSteps = 1024;

void AddClass(uint64_t& of, uint64_t added) {
  if (added == SlotInfo::kNoClass) return;
  of = of == SlotInfo::kNoClass || of == added ? added : SlotInfo::kManyClasses;
}

class SlotPlanner {
 public:
  SlotPlanner(Plan& plan, std::vector<SlotInfo>& slots, const OptimizerOptions& optimizer)
      : plan_(plan), slots_(slots), optimizer_(optimizer), classes_(OrderClasses(plan)) {}

  void Run() {
    FindUses();
    GroupAliases();
    ChooseSchedule();
    PlanMemory();
    FillIo();
  }

 private:
  static constexpr int32_t kNever = SlotInfo::kNever;

  // ---- lifetimes

  void FindUses() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for (const int32_t slot : plan_.steps[i].io.inputs) {
        const auto index = static_cast<int32_t>(i);
        if (slots_[slot].last_use != index) ++slots_[slot].readers;
        slots_[slot].last_use = index;
        AddClass(slots_[slot].reader_class, classes_[i]);
        AddClass(slots_[slot].user_class, classes_[i]);
      }
      for (const int32_t slot : plan_.steps[i].io.outputs) {
        AddClass(slots_[slot].user_class, classes_[i]);
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
    for (Step& step : plan_.steps) {
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
      root.group_last_use = std::max(root.group_last_use, slot.last_use);
      root.shared = root.shared || slot.fetched || slot.sent;
      AddClass(root.user_class, slot.user_class);
    }
  }

  // ---- memory

  void ChooseSchedule() {
    const size_t steps = plan_.steps.size();
    if (optimizer_.parallel_steps == ParallelSteps::kNever || plan_.has_conditionals ||
        plan_.may_block || !plan_.calls.empty())
      return;
    plan_.always_scheduled = optimizer_.parallel_steps == ParallelSteps::kAlways;
    if (!plan_.always_scheduled && (steps < kFewestScheduledSteps || steps > kMostScheduledSteps))
      return;
    int64_t bytes = 0;
    for (const Step& step : plan_.steps) {
      for (size_t o = 0; o < step.io.outputs.size(); ++o) {
        if (Plannable(step, o)) bytes += Bytes(slots_[step.io.outputs[o]]);
      }
    }
    plan_.suits_schedule = bytes <= kMostScheduledBytes;
  }

  static int64_t Bytes(const SlotInfo& info) {
    return static_cast<int64_t>(info.shape.num_elements()) *
           static_cast<int64_t>(DTypeSize(info.dtype));
  }

  bool Plannable(const Step& step, size_t output) const {
    const int32_t slot = step.io.outputs[output];
    const SlotInfo& info = slots_[slot];
    return optimizer_.static_memory && step.kernel && !step.kernel->own_outputs() &&
           output < KernelContext::kTrackedOutputs && info.group == slot && !info.shared &&
           IsPlain(info.dtype) && info.shape.fully_known() &&
           info.shape.num_elements() <= kMaxPlannedElements;
  }

  void PlanMemory() {
    std::vector<Lifetime> units;
    std::vector<uint64_t> unit_classes;
    const auto end = static_cast<int32_t>(plan_.steps.size());
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      const auto index = static_cast<int32_t>(i);
      for (size_t o = 0; o < step.io.outputs.size(); ++o) {
        if (!Plannable(step, o)) continue;
        SlotInfo& info = slots_[step.io.outputs[o]];
        info.in_arena = true;
        const int64_t bytes = Bytes(info);
        const bool to_end = plan_.suits_schedule || info.user_class == SlotInfo::kManyClasses;
        const int32_t last = to_end ? end : std::max(info.group_last_use, index);
        info.unit = InPlaceUnit(step, index, static_cast<int32_t>(o), bytes, units);
        if (info.unit == kNever) {
          info.unit = static_cast<int32_t>(units.size());
          units.push_back({bytes, index, last, 0});
          unit_classes.push_back(info.user_class);
        } else {
          units[info.unit].last = std::max(units[info.unit].last, last);
        }
      }
    }
    PlaceUnits(units, unit_classes);
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (!slots_[s].in_arena) continue;
      PreparedSlot prepared;
      prepared.slot = static_cast<int32_t>(s);
      prepared.dtype = slots_[s].dtype;
      prepared.shape = slots_[s].shape.AsShape();
      prepared.offset = units[slots_[s].unit].offset;
      plan_.prepared.push_back(std::move(prepared));
    }
  }

  // Each class has a part of the arena of its own.
  void PlaceUnits(std::vector<Lifetime>& units, const std::vector<uint64_t>& unit_classes) {
    std::map<uint64_t, std::vector<size_t>> members;
    for (size_t u = 0; u < units.size(); ++u) members[unit_classes[u]].push_back(u);
    for (const auto& [order_class, indices] : members) {
      std::vector<Lifetime> part;
      for (const size_t u : indices) part.push_back(units[u]);
      const int64_t bytes = PlanArena(part);
      for (size_t i = 0; i < indices.size(); ++i) {
        units[indices[i]].offset = plan_.arena_bytes + part[i].offset;
      }
      plan_.arena_bytes += bytes;
    }
  }

  // The place of an input that ends at this step and that the kernel may overwrite with output "o".
  int32_t InPlaceUnit(const Step& step, int32_t index, int32_t o, int64_t bytes,
                      const std::vector<Lifetime>& units) const {
    if (plan_.suits_schedule) return kNever;
    for (const auto& [output, input] : step.kernel->in_place()) {
      if (output != o || input >= static_cast<int32_t>(step.io.inputs.size())) continue;
      const int32_t slot = step.io.inputs[input];
      const int32_t unit = slots_[slots_[slot].group].unit;
      if (unit == kNever || units[unit].last != index || units[unit].bytes != bytes) continue;
      bool exclusive = true;
      for (const int32_t other : step.io.inputs) {
        if (other != slot && slots_[slots_[other].group].unit == unit) exclusive = false;
      }
      for (const int32_t other : step.io.outputs) {
        if (slots_[other].unit == unit) exclusive = false;
      }
      if (exclusive) return unit;
    }
    return kNever;
  }

  // ---- what the kernels see

  void FillIo() {
    plan_.prepared_slots.resize(slots_.size());
    for (const PreparedSlot& p : plan_.prepared) plan_.prepared_slots[p.slot] = true;
    for (const Step& step : plan_.steps) {
      if (step.once) plan_.prepared_slots[step.io.outputs[0]] = true;
    }
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (!plan_.prepared_slots[s]) plan_.dynamic_slots.push_back(static_cast<int32_t>(s));
      if (IsReleased(s) && slots_[s].reader_class == SlotInfo::kManyClasses) {
        plan_.shared_slots.push_back({static_cast<int32_t>(s), slots_[s].readers});
      }
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      FillInputs(plan_.steps[i], static_cast<int32_t>(i));
      FillOutputs(plan_.steps[i], static_cast<int32_t>(i));
    }
  }

  bool IsReleased(size_t slot) const {
    return !slots_[slot].fetched && !plan_.prepared_slots[slot];
  }

  void FillInputs(Step& step, int32_t index) {
    const auto add = [](std::vector<int32_t>& list, int32_t slot) {
      if (std::ranges::find(list, slot) == list.end()) list.push_back(slot);
    };
    for (const int32_t slot : step.io.inputs) {
      const SlotInfo& info = slots_[slot];
      const bool any_order = info.reader_class == SlotInfo::kManyClasses;
      const bool last = info.last_use == index && IsReleased(slot) && !any_order;
      step.io.last_use.push_back(last && (info.readers == 1 || !plan_.suits_schedule));
      if (last) add(step.release, slot);
      if (any_order && IsReleased(slot)) add(step.release_when_last, slot);
    }
  }

  void FillOutputs(Step& step, int32_t index) {
    for (size_t o = 0; o < step.io.outputs.size(); ++o) {
      const int32_t slot = step.io.outputs[o];
      step.io.prepared.push_back(plan_.prepared_slots[slot] && !step.once);
      step.io.in_place.push_back(DynamicInPlace(step, static_cast<int32_t>(o)));
      if (slots_[slot].last_use < index && IsReleased(slot)) step.release.push_back(slot);
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

  Plan& plan_;
  std::vector<SlotInfo>& slots_;
  const OptimizerOptions& optimizer_;
  const std::vector<uint64_t> classes_;  // per step
};

}  // namespace

void PlanSlots(Plan& plan, std::vector<SlotInfo>& slots, const OptimizerOptions& optimizer) {
  SlotPlanner(plan, slots, optimizer).Run();
}

}  // namespace sextant
