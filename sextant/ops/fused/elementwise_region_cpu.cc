// Runs a chain of element-wise functions tile by tile: all steps of the program on up to
// 1,024 elements, whose intermediate values stay in the first-level cache, before the next tile.
// For y = tanh(a * x + b) over 1 M floats, three ops would read and write 6 arrays of memory, this
// one reads 1 and writes 1 (a and b being scalars).
//
// The program is the attribute of the node: steps in order, each with its function and the values
// it reads (inputs, constants, results of steps before). Results get slots of scratch memory by
// liveness: a step may write to the slot of a value that it reads last. Results of the region keep
// theirs until the end of the tile, when they are copied out: an output may lie in the memory of an
// input that a later step reads.
//
// Inputs smaller than the result are read with a period: 1 for a scalar, the size of the last axis
// for a bias. Where a tile goes over the end of a period, the input is copied out for it.
//
// Invariant: each step calls the loop that the op itself would call (ops/math/elementwise_loops.h),
// element by element, so fused and unfused graphs give the same bits.
#include <algorithm>
#include <cstring>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/fused/elementwise_region.h"
#include "sextant/ops/math/broadcast_plan.h"
#include "sextant/ops/math/elementwise_loops.h"

namespace sextant {
namespace {

// How the elements of a value are found: "period" of them, repeated; 1 for a scalar.
struct Source {
  const float* data = nullptr;
  int64_t period = 1;
};

// A step made ready: its loop and where its result goes.
struct PreparedStep {
  UnaryLoop unary = nullptr;
  BinaryLoop binary = nullptr;
  int a = 0, b = 0;
  int slot = 0;
};

class ElementwiseRegionKernel final : public Kernel {
 public:
  explicit ElementwiseRegionKernel(KernelInit& init)
      : program_(init.num_inputs(), init.attr<std::vector<float>>("constants"),
                 init.attr<std::vector<int64_t>>("program"),
                 init.attr<std::vector<int64_t>>("results")) {
    if (program_.num_inputs > kMaxInputs || static_cast<int>(program_.steps.size()) > kMaxSteps ||
        static_cast<int>(program_.results.size()) != init.num_outputs()) {
      throw InvalidArgument("a region of {} inputs, {} steps and {} results for {} outputs",
                            program_.num_inputs, program_.steps.size(), program_.results.size(),
                            init.num_outputs());
    }
    AssignSlots();
    for (const ElementwiseStep& step : program_.steps) cost_ += FloatLoopCost(step.function);
    tile_ = std::min<int64_t>(kMaxTile, kScratch / std::max(num_slots_, 1) / 16 * 16);
  }

  void Compute(KernelContext& ctx) override {
    const Shape shape = RegionShape(ctx);
    const int64_t count = shape.num_elements();
    sources_.resize(program_.first_step_value());
    for (int i = 0; i < program_.num_inputs; ++i) {
      sources_[i] = {ctx.input(i).data<float>(), ctx.input(i).num_elements()};
    }
    for (size_t i = 0; i < program_.constants.size(); ++i) {
      sources_[program_.num_inputs + i] = {&program_.constants[i], 1};
    }
    outputs_.resize(program_.results.size());
    for (size_t i = 0; i < outputs_.size(); ++i) {
      outputs_[i] = ctx.AllocateOutput(static_cast<int>(i), shape).data<float>();
    }
    ctx.ParallelFor(count, cost_, [&](int64_t begin, int64_t end) {
      alignas(64) float scratch[kScratch];
      for (int64_t i = begin; i < end; i += tile_) RunTile(i, std::min(tile_, end - i), scratch);
    });
  }

 private:
  static constexpr int kMaxInputs = 64, kMaxSteps = 256;
  static constexpr int64_t kMaxTile = 1024;       // floats: the live values of a tile stay in L1
  static constexpr int64_t kScratch = 16 * 1024;  // floats

  // What the inputs broadcast to: nearly always the shape of the largest.
  static Shape RegionShape(const KernelContext& ctx) {
    int largest = 0;
    for (int i = 1; i < ctx.num_inputs(); ++i) {
      if (ctx.input(i).num_elements() > ctx.input(largest).num_elements()) largest = i;
    }
    Shape shape = ctx.input(largest).shape();
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      const Shape& input = ctx.input(i).shape();
      if (i == largest || input == shape) continue;
      if (input.rank() > shape.rank()) shape = BroadcastPlan(shape, input).output();
      if (!RepeatsAsBlock(input, shape)) {
        throw InvalidArgument("input {} of shape {} does not repeat as a block in {}", i,
                              input.ToString(), shape.ToString());
      }
    }
    return shape;
  }

  // A value's slot is free again after the step that reads it last. Results keep theirs to the end,
  // when they are copied out: an output may be the buffer of an input that a later step reads.
  void AssignSlots() {
    const int first = program_.first_step_value();
    const int num_steps = static_cast<int>(program_.steps.size());
    std::vector<int> last_use(num_steps, -1);
    for (int s = 0; s < num_steps; ++s) {
      const ElementwiseStep& step = program_.steps[s];
      if (step.a >= first) last_use[step.a - first] = s;
      if (ElementwiseArity(step.function) == 2 && step.b >= first) last_use[step.b - first] = s;
    }
    for (const int result : program_.results) last_use[result] = num_steps;
    std::vector<int> free, slot_of(num_steps, -1);
    for (int s = 0; s < num_steps; ++s) {
      for (int t = 0; t < s; ++t) {
        if (last_use[t] == s) free.push_back(slot_of[t]);
      }
      int slot = num_slots_;
      if (free.empty()) {
        ++num_slots_;
      } else {
        slot = free.back();
        free.pop_back();
      }
      slot_of[s] = slot;
      const ElementwiseStep& step = program_.steps[s];
      PreparedStep prepared{.a = step.a, .b = step.b, .slot = slot};
      if (ElementwiseArity(step.function) == 1) {
        prepared.unary = FloatUnaryLoop(step.function);
      } else {
        prepared.binary = FloatBinaryLoop(step.function);
      }
      steps_.push_back(prepared);
    }
  }

  struct Operand {
    const float* data;
    int64_t step;
  };

  void RunTile(int64_t begin, int64_t length, float* scratch) const {
    const int first = program_.first_step_value();
    float repeated[2][kMaxTile];
    const auto operand = [&](int value, int which) -> Operand {
      if (value >= first) return {scratch + steps_[value - first].slot * tile_, 1};
      const Source& source = sources_[value];
      if (source.period == 1) return {source.data, 0};
      const int64_t offset = begin % source.period;
      if (offset + length <= source.period) return {source.data + offset, 1};
      Repeat(source, offset, length, repeated[which]);
      return {repeated[which], 1};
    };
    const int last = static_cast<int>(steps_.size()) - 1;
    for (int s = 0; s <= last; ++s) {
      const PreparedStep& step = steps_[s];
      const bool direct = s == last && program_.results.size() == 1 && program_.results[0] == s;
      float* out = direct ? outputs_[0] + begin : scratch + step.slot * tile_;
      const Operand a = operand(step.a, 0);
      if (step.unary != nullptr) {
        if (a.step == 0) {
          step.unary(a.data, out, 1);
          std::fill_n(out, length, out[0]);
        } else {
          step.unary(a.data, out, length);
        }
      } else {
        const Operand b = operand(step.b, 1);
        step.binary(a.data, a.step, b.data, b.step, out, length);
      }
      if (direct) return;
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const float* from = scratch + steps_[program_.results[i]].slot * tile_;
      std::memcpy(outputs_[i] + begin, from, static_cast<size_t>(length) * sizeof(float));
    }
  }

  static void Repeat(const Source& source, int64_t offset, int64_t length, float* to) {
    while (length > 0) {
      const int64_t part = std::min(length, source.period - offset);
      std::copy_n(source.data + offset, part, to);
      to += part;
      length -= part;
      offset = 0;
    }
  }

  const ElementwiseProgram program_;
  std::vector<PreparedStep> steps_;
  int num_slots_ = 0;
  int64_t tile_ = 0;
  double cost_ = 0;
  std::vector<Source> sources_;
  std::vector<float*> outputs_;
};

}  // namespace

void RegisterElementwiseRegionCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("_Elementwise")
                   .Type<float>("T")
                   .InPlace(0, 0)
                   .InPlace(0, 1)
                   .InPlace(0, 2)
                   .Make<ElementwiseRegionKernel>());
}

}  // namespace sextant
