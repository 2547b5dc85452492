#include "sextant/runtime/plan.h"

#include "sextant/runtime/node_kernel.h"
#include "sextant/runtime/schedule_trial.h"

namespace sextant {

Frame::Frame() = default;
Frame::~Frame() = default;

std::unique_ptr<Frame> Plan::NewFrame(Allocator& allocator) const {
  auto frame = std::make_unique<Frame>();
  frame->slots.resize(num_slots);
  if (arena_bytes > 0) {
    frame->arena = NewBuffer(arena_bytes, allocator);
    frame->arena->set_transient(true);
  }
  for (const PreparedSlot& p : prepared) {
    frame->slots[p.slot] =
        p.constant.valid() ? p.constant : Tensor(p.dtype, p.shape, frame->arena, p.offset);
  }
  frame->kernels.resize(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kernel) frame->kernels[i] = CreateKernel(*steps[i].kernel, *steps[i].node);
  }
  if (has_conditionals) {
    frame->dead_slots.resize(num_slots);
    frame->dead_steps.resize(steps.size());
  }
  frame->branches.resize(steps.size());
  if (suits_schedule || order) {
    frame->readers = std::make_unique<std::atomic<int32_t>[]>(num_slots);
  }
  if (!calls.empty()) frame->calls = std::make_unique<PendingCalls>(calls);
  if (suits_schedule) {
    frame->trial = std::make_unique<ScheduleTrial>(*this, always_scheduled);
  }
  return frame;
}

int64_t Plan::bytes() const {
  int64_t total = arena_bytes + static_cast<int64_t>(num_slots * sizeof(Tensor));
  for (const Step& step : steps) {
    total += static_cast<int64_t>(sizeof(Step) + 256);
    for (const auto& branch : step.branches) total += branch->bytes();
  }
  for (const PreparedSlot& p : prepared) {
    if (p.constant.valid()) total += static_cast<int64_t>(p.constant.bytes());
  }
  return total;
}

}  // namespace sextant
