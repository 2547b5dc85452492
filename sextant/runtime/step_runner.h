// StepRunner: runs single steps of a Plan in a frame, for one thread.
#pragma once

#include "sextant/runtime/plan.h"

namespace sextant {

class StepTrace;

class StepRunner {
 public:
  StepRunner(const Plan& plan, Frame& frame, const RunEnvironment& run, StepTrace* trace = nullptr)
      : plan_(plan), frame_(frame), run_(run), trace_(trace), context_(frame.slots.data(), run) {}

  // Throws what the step throws: see ThrowNamed.
  void Run(const Step& step) {
    context_.set_step(&step.io);
    if (step.kind == StepKind::kKernel) [[likely]] {
      frame_.kernels[&step - plan_.steps.data()]->Compute(context_);
      context_.CheckOutputs();
    } else {
      RunStructural(step);
    }
  }
  // The same, noted in the trace if there is one.
  void RunTraced(const Step& step);
  // Whether the step lies on a branch that a Switch did not take; marks its outputs if so.
  bool Dead(const Step& step);

 private:
  void RunStructural(const Step& step);
  void RunSwitch(const Step& step);
  void RunMerge(const Step& step);
  void RunBranch(const Step& step, size_t branch);
  void RunWhile(const Step& step);
  void StartCall(const Step& step);
  void FinishCall(const Step& step);
  Frame& BranchFrame(const Step& step, size_t branch);

  const Plan& plan_;
  Frame& frame_;
  const RunEnvironment& run_;
  StepTrace* const trace_;
  KernelContext context_;
};

// In a handler: throws what was caught as an Error with "[Op name] " in front, unless it is not
// this step's own.
[[noreturn]] void ThrowNamed(const Step& step, const RunEnvironment& run);

}  // namespace sextant
