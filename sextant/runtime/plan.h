// Plan: a graph compiled for one set of feeds (with their shapes), fetches and targets: a flat list
// of steps over numbered slots. Frame: the memory and kernels of one run of it.
//
// A Plan is immutable and shared; a Frame is used by one run at a time and then goes back to the
// pool.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sextant/device/device.h"
#include "sextant/device/kernel.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/graph/graph.h"
#include "sextant/runtime/pending_calls.h"

namespace sextant {

class ScheduleTrial;
class Plan;
struct Schedule;

enum class StepKind : uint8_t {
  kKernel,
  kSwitch,  // data, pred → one live output
  kMerge,   // inputs → the live one, its index
  kIf,      // branches: else, then
  kCase,    // branches in order, the last is the default
  kWhile,   // branches: cond, body
  kSend,
  kReceive,
  kCallStart,   // inputs → a fragment of another task
  kCallFinish,  // its outputs
};

struct Step {
  StepKind kind = StepKind::kKernel;
  const Node* node = nullptr;  // of the Plan's graph
  const Device* device = nullptr;
  const KernelDef* kernel = nullptr;
  StepIo io;
  bool once = false;  // its output is the same in all runs of a frame and stays in its slot
  // Slots that hold nothing needed after this step and are not prepared.
  std::vector<int32_t> release;
  // Slots that steps read whose order is not fixed (Plan::order): the last of them empties it.
  std::vector<int32_t> release_when_last;
  // Only where a Switch is upstream: the step is dead when one of these slots or steps is.
  std::vector<int32_t> dead_slots, dead_steps;
  std::vector<std::shared_ptr<const Plan>> branches;
  bool scalar_predicate = false;  // of If and While: one of another shape or type is an error
  std::vector<int32_t> results;   // of If and Case: the outputs that a branch computes
  std::string key;                // of a send or receive
  int32_t call = -1;              // of a call's start and finish: which of Plan::calls
};

// A slot whose tensor exists before the run: a constant, or a place in the arena.
struct PreparedSlot {
  int32_t slot = 0;
  Tensor constant;  // valid: this value
  DType dtype = DType::kInvalid;
  Shape shape;
  int64_t offset = 0;  // in the arena
};

// What the graph orders, for Plans with steps that wait for others: per step, how many come before
// it, and those that come after it.
struct StepOrder {
  std::vector<int32_t> num_before;
  std::vector<std::vector<int32_t>> after;
};

struct SlotReaders {
  int32_t slot = 0;
  int32_t count = 0;  // of steps that read it
};

struct Frame {
  Frame();
  ~Frame();

  std::vector<Tensor> slots;
  std::vector<std::unique_ptr<Kernel>> kernels;  // per step; null for other kinds
  BufferRef arena;
  std::vector<uint8_t> dead_slots, dead_steps;                // empty in plans without conditionals
  std::vector<std::vector<std::unique_ptr<Frame>>> branches;  // per step, made when first needed
  // Per slot, the steps that have still to read it: of Plans that suit a schedule or have an
  // "order".
  std::unique_ptr<std::atomic<int32_t>[]> readers;
  // Only of Plans that suit a schedule: the way to run.
  std::unique_ptr<ScheduleTrial> trial;
  // Only of Plans that call other tasks.
  std::unique_ptr<PendingCalls> calls;
};

class Plan {
 public:
  std::unique_ptr<Graph> graph;
  std::vector<Step> steps;
  int32_t num_slots = 0;
  int64_t arena_bytes = 0;
  std::vector<PreparedSlot> prepared;
  std::vector<int32_t> feed_slots;   // in the order of the feeds; -1: nobody reads it
  std::vector<int32_t> fetch_slots;  // in the order of the fetches; -1: see passthrough
  std::vector<std::string> fetch_names;
  std::vector<int32_t> dynamic_slots;  // to be emptied when a run fails midway
  std::vector<PartialShape> fetch_shapes;
  std::vector<PlanCall> calls;  // of other tasks
  bool has_conditionals = false;
  // Its steps may run at the same time: nothing is written where another step may still read.
  bool suits_schedule = false;
  bool always_scheduled = false;
  // A step, or one of a branch, may wait for something outside itself (KernelDef::MayBlock).
  bool may_block = false;
  // Set when steps can run while such a step waits: run by blocking_run.h.
  std::unique_ptr<const StepOrder> order;
  std::vector<SlotReaders> shared_slots;  // those of Step::release_when_last
  std::vector<uint8_t> prepared_slots;    // per slot: one of "prepared"
  // Of a loop's body, per result: itself where it is the argument of the same place, passed
  // through; else -1.
  std::vector<int32_t> passthrough;

  // Whether the slot's tensor stays from run to run.
  bool keeps_value(int32_t slot) const { return prepared_slots[slot]; }
  std::unique_ptr<Frame> NewFrame(Allocator& allocator) const;
  // About what the Plan and one frame occupy.
  int64_t bytes() const;
};

}  // namespace sextant
