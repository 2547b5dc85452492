// Hook: code that runs around the steps of a training or evaluation.
//
//   class PrintLoss : public train::Hook {
//    public:
//     explicit PrintLoss(Output loss) : loss_(loss) {}
//     void BeforeRun(RunContext& run) override { run.Fetch(loss_); }
//     void AfterRun(RunContext& run) override { fmt::print("{}\n", run.Value(loss_).AsDouble()); }
//    private:
//     Output loss_;
//   };
//
// The fetches of all hooks and of the caller are one Session::Run. Hooks are called in the order
// given, on the thread of the step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/runtime/session.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// What a hook may do in one step.
class SEXTANT_API RunContext {
 public:
  virtual ~RunContext() = default;
  // BeforeRun: adds to this step's run.
  virtual void Fetch(Output tensor) = 0;
  virtual void Feed(Output tensor, Tensor value) = 0;
  // BeforeRun: asks for a trace of this step; AfterRun: gives it, else null.
  virtual void Trace() = 0;
  virtual const StepTrace* trace() const = 0;
  // AfterRun: the value of something that was fetched by any hook or by the caller.
  virtual const Tensor& Value(Output tensor) const = 0;
  // After this step the loop ends.
  virtual void RequestStop() = 0;
  virtual Session& session() = 0;
  // As it is now: BeforeRun, before this step; AfterRun, after it. Throws FAILED_PRECONDITION when
  // the graph has none.
  virtual int64_t global_step() const = 0;
  // It may have changed since it was asked for: a hook has set it, or others count it too.
  virtual void ForgetGlobalStep() = 0;
};

class SEXTANT_API Hook {
 public:
  virtual ~Hook() = default;
  // Before the graph is final: the hook may add nodes.
  virtual void Begin() {}
  // A session exists, its variables are initialised or restored, and so is the hook's own state.
  virtual void AfterCreateSession(Session& session) { (void)session; }
  virtual void BeforeRun(RunContext& run) { (void)run; }
  virtual void AfterRun(RunContext& run) { (void)run; }
  // The loop ended without an error.
  virtual void End(Session& session) { (void)session; }

  // State that must survive a resume (when it last fired, best value, …); saved with checkpoints.
  virtual std::string SaveState() const { return {}; }
  virtual void RestoreState(const std::string& bytes) { (void)bytes; }
  // Names the state; hooks of one session have different names. "" has none.
  virtual std::string name() const { return {}; }
};

}  // namespace sextant::train

#pragma GCC visibility pop
