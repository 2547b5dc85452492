// Kernel: the code that computes a node on a device. KernelContext: what it sees while computing.
//
// A Kernel object belongs to one frame of a Plan and is used by one thread at a time, so it may
// keep scratch memory and prepared primitives in members without a lock. State that must outlive
// the Plan or be seen by other runs (variables, random streams) lives in the ResourceManager.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/export.h"
#include "sextant/base/function_ref.h"
#include "sextant/graph/graph.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

class Device;
class KernelContext;
class Rendezvous;
class ResourceManager;
class RunWait;
class StepTurn;
class ThreadTeam;

// What a kernel may ask when it is made.
class SEXTANT_API KernelInit {
 public:
  explicit KernelInit(const Node& node) : node_(node) {}
  const Node& node() const { return node_; }
  template <typename T>  // throws INVALID_ARGUMENT if it is of another kind
  const T& attr(std::string_view name) const {
    return node_.attr<T>(name);
  }
  int num_inputs() const { return node_.num_inputs(); }
  int num_outputs() const { return node_.num_outputs(); }
  DType input_type(int i) const { return RemoveRef(node_.input(i).dtype()); }
  DType output_type(int i) const { return RemoveRef(node_.output_type(i)); }

 private:
  const Node& node_;
};

class SEXTANT_API Kernel {
 public:
  virtual ~Kernel() = default;
  // Reads ctx.input(i), provides every output by AllocateOutput, ForwardInput or SetOutput; an
  // output not provided ends the run with INTERNAL. Throws Error on bad values; the executor puts
  // "[Op name] " in front of the message. Other exceptions become INTERNAL, std::bad_alloc
  // RESOURCE_EXHAUSTED.
  virtual void Compute(KernelContext& ctx) = 0;
};

// Where a step finds its tensors in the slots of a frame; made by the Plan.
struct SEXTANT_API StepIo {
  std::vector<int32_t> inputs, outputs;  // slots
  std::vector<DType> output_types;       // one for each output
  // Per input: no later step reads the slot, and nothing keeps it filled from run to run (a
  // constant, an arena view).
  std::vector<uint8_t> last_use;
  // Per output: the input whose buffer it may overwrite (registered in-place pair whose input ends
  // here), or -1.
  std::vector<int32_t> in_place;
  // Per output: its slot holds a tensor prepared by the Plan.
  std::vector<uint8_t> prepared;
  // Per output: the input whose buffer it shares by registration, or -1.
  std::vector<int32_t> alias;
  std::string node_name;
};

// What all steps of one run share.
struct SEXTANT_API RunEnvironment {
  ThreadTeam* team = nullptr;
  int max_threads = 0;  // 0 = all of the team
  Allocator* allocator = nullptr;
  ResourceManager* resources = nullptr;
  CancellationToken* cancellation = nullptr;
  Rendezvous* rendezvous = nullptr;
  StepTurn* turn = nullptr;  // of a run with steps that wait for others (run_wait.h)
  int64_t step_id = 0;
};

class SEXTANT_API KernelContext {
 public:
  KernelContext(Tensor* slots, const RunEnvironment& run) : slots_(slots), run_(run) {}

  int num_inputs() const { return static_cast<int>(io_->inputs.size()); }
  int num_outputs() const { return static_cast<int>(io_->outputs.size()); }
  const Tensor& input(int i) const { return slots_[io_->inputs[i]]; }
  DType output_type(int i) const { return io_->output_types[i]; }
  const std::string& node_name() const { return io_->node_name; }

  // The tensor to write output i to: prepared by the Plan, or the buffer of an input that ends here
  // (registered in-place pairs: the kernel must tolerate that output and input are one), or new.
  // Elements of plain types are not initialised.
  Tensor& AllocateOutput(int i, const Shape& shape) {
    provided_ |= Bit(i);
    Tensor& slot = slots_[io_->outputs[i]];
    if (io_->prepared[i]) [[likely]] {
      if (!(slot.shape() == shape)) [[unlikely]]
        ThrowShapeMismatch(i, shape);
      return slot;
    }
    return AllocateDynamic(i, shape);
  }
  // Output i is input j, maybe under another shape with as many elements (alias pairs are
  // registered; otherwise a copy is made where the input does not outlive its step).
  void ForwardInput(int j, int i) { ForwardInput(j, i, input(j).shape()); }
  void ForwardInput(int j, int i, const Shape& shape);
  // Output i is "value". Kernels that always do so register OwnOutputs(), else it may be copied.
  void SetOutput(int i, Tensor value);
  // Input i, moved out of its slot when no later step reads it; so that a list or buffer that
  // nobody else holds can be changed in place. May still be transient: keep only
  // value.Persistent().
  Tensor TakeInput(int i);
  // Scratch memory, counted against the memory limit.
  Tensor AllocateTemp(DType dtype, const Shape& shape);

  // Splits [0, total) over the team. "cost" is the approximate cost of one unit in nanoseconds:
  // small work stays on this thread. The split depends only on sizes and thread count, never on
  // scheduling.
  void ParallelFor(int64_t total, double cost, FunctionRef<void(int64_t, int64_t)> body);

  ResourceManager& resources() { return *run_.resources; }
  CancellationToken& cancellation() { return *run_.cancellation; }
  // For kernels registered with MayBlock().
  RunWait wait();
  Allocator& allocator() { return *run_.allocator; }
  Rendezvous* rendezvous() { return run_.rendezvous; }
  int64_t step_id() const { return run_.step_id; }
  int threads() const;  // that share a loop

  // For the executor.
  void set_step(const StepIo* io) {
    io_ = io;
    provided_ = 0;
  }
  // Throws INTERNAL when the kernel that has computed the step left an output out.
  void CheckOutputs() const {
    const size_t count = io_->outputs.size();
    if (count > kTrackedOutputs || provided_ != Bit(static_cast<int>(count)) - 1) [[unlikely]]
      FindMissingOutput();
  }
  // Of the outputs from this one on, only those without prepared memory are checked.
  static constexpr size_t kTrackedOutputs = 63;
  const RunEnvironment& run() const { return run_; }

 private:
  static uint64_t Bit(int i) { return uint64_t{1} << (i < 63 ? i : 63); }
  void FindMissingOutput() const;
  Tensor& AllocateDynamic(int i, const Shape& shape);
  [[noreturn]] void ThrowShapeMismatch(int i, const Shape& shape) const;

  Tensor* slots_;
  const RunEnvironment& run_;
  const StepIo* io_ = nullptr;
  uint64_t provided_ = 0;  // outputs of the step, a bit each
};

}  // namespace sextant

#pragma GCC visibility pop
