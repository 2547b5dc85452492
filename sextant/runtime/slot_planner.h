// Decides for the slots of a Plan how long their tensors live, which of them share a buffer and
// where in the arena they are.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/runtime/passes/pass.h"
#include "sextant/runtime/plan.h"
#include "sextant/tensor/shape.h"

namespace sextant {

struct SlotInfo {
  static constexpr int32_t kNever = -1;
  // Classes of steps (blocking_order.h) that use it: none so far, or more than one.
  static constexpr uint64_t kNoClass = ~uint64_t{0}, kManyClasses = ~uint64_t{1};

  // From the step emitter.
  DType dtype = DType::kInvalid;
  PartialShape shape;
  bool fetched = false;
  bool sent = false;  // to another task, whose call may hold it longer than its step

  // Found by PlanSlots.
  bool in_arena = false;
  bool shared = false;              // the group has a member whose tensor must outlive the step
  int32_t last_use = kNever;        // last step that reads it
  int32_t readers = 0;              // steps that read it
  int32_t group = kNever;           // slots that share a buffer by registration: the first of them
  int32_t group_last_use = kNever;  // of the first slot of a group: the last step that reads one
  int32_t unit = kNever;            // index of its place in the arena
  uint64_t reader_class = kNoClass, user_class = kNoClass;  // users: the readers and the maker
};

// Fills in the StepIo and releases of the steps, the prepared and the dynamic slots and the size of
// the arena, and whether the Plan suits a schedule. REQUIRES: FindBlockingOrder has run.
void PlanSlots(Plan& plan, std::vector<SlotInfo>& slots, const OptimizerOptions& optimizer);

}  // namespace sextant
