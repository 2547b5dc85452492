// A run with steps that may block pops, of the steps whose predecessors have ended, the one that
// comes first in the Plan (blocking_run.cc). Then two steps that wait for the same blocking steps
// keep their order: when the later one is popped, all of these have ended, so the earlier one's
// predecessors were popped before it. The class of a step is therefore the set of blocking steps
// among its ancestors and itself, as a bit mask.
//
//   a: x = Dequeue(q)      class {a}
//   b: y = w * w           class {}
//   c: Enqueue(q, y)       class {c}
//   d: z = x + 1           class {a}
//   e: z * y               class {a}
//
// Memory of values that are made and read within one class can be planned by the order of the Plan;
// other values (y) keep theirs to the end of the run.
#include "sextant/runtime/blocking_order.h"

#include <algorithm>

#include "sextant/runtime/step_dependencies.h"

namespace sextant {
namespace {

constexpr size_t kMaskBits = 63;

bool MayBlock(const Step& step) {
  if (step.kernel) return step.kernel->may_block();
  if (step.kind == StepKind::kCallFinish) return step.node->attr<bool>("waits");
  return std::ranges::any_of(step.branches, [](const auto& plan) { return plan->may_block; });
}

std::vector<int32_t> BlockingSteps(const Plan& plan) {
  std::vector<int32_t> blocking;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (MayBlock(plan.steps[i])) blocking.push_back(static_cast<int32_t>(i));
  }
  return blocking;
}

// Per step, the blocking steps among it and what comes before it.
std::vector<uint64_t> Masks(const StepOrder& order, const std::vector<int32_t>& blocking) {
  std::vector<uint64_t> masks(order.after.size());
  for (size_t b = 0; b < blocking.size(); ++b) masks[blocking[b]] = uint64_t{1} << b;
  for (size_t i = 0; i < masks.size(); ++i) {
    for (const int32_t next : order.after[i]) masks[next] |= masks[i];
  }
  return masks;
}

// Whether a step neither precedes nor follows one that may block.
bool AnyIndependent(const Plan& plan, const StepOrder& order,
                    const std::vector<int32_t>& blocking) {
  if (blocking.size() > kMaskBits) return true;
  std::vector<uint64_t> related = Masks(order, blocking);
  for (size_t b = 0; b < blocking.size(); ++b) {
    std::vector<uint8_t> precedes(plan.steps.size());
    precedes[blocking[b]] = 1;
    for (size_t i = blocking[b]; i-- > 0;) {
      for (const int32_t next : order.after[i]) precedes[i] |= precedes[next];
      if (precedes[i]) related[i] |= uint64_t{1} << b;
    }
  }
  const uint64_t all = (uint64_t{1} << blocking.size()) - 1;
  for (size_t i = 0; i < related.size(); ++i) {
    if (!plan.steps[i].once && related[i] != all) return true;
  }
  return false;
}

}  // namespace

void FindBlockingOrder(Plan& plan) {
  const std::vector<int32_t> blocking = BlockingSteps(plan);
  plan.may_block = !blocking.empty();
  if (!plan.may_block) return;
  auto order = std::make_unique<StepOrder>();
  order->after.resize(plan.steps.size());
  order->num_before.resize(plan.steps.size());
  const auto before = EdgeDependencies(plan);
  for (size_t i = 0; i < before.size(); ++i) {
    order->num_before[i] = static_cast<int32_t>(before[i].size());
    for (const int32_t other : before[i]) order->after[other].push_back(static_cast<int32_t>(i));
  }
  if (AnyIndependent(plan, *order, blocking)) plan.order = std::move(order);
}

std::vector<uint64_t> OrderClasses(const Plan& plan) {
  std::vector<uint64_t> classes(plan.steps.size());
  if (!plan.order) return classes;
  const std::vector<int32_t> blocking = BlockingSteps(plan);
  if (blocking.size() <= kMaskBits) return Masks(*plan.order, blocking);
  // Too many to tell apart: every step is its own class.
  for (size_t i = 0; i < classes.size(); ++i) classes[i] = i;
  return classes;
}

}  // namespace sextant
