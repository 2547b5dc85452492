#include "sextant/runtime/step_runner.h"

#include "sextant/base/thread_team.h"
#include "sextant/device/implementation_name.h"
#include "sextant/device/rendezvous.h"
#include "sextant/device/run_wait.h"
#include "sextant/runtime/executor.h"
#include "sextant/runtime/node_kernel.h"
#include "sextant/runtime/trace.h"

namespace sextant {
namespace {

bool ScalarBool(const Tensor& predicate) {
  if (predicate.dtype() != DType::kBool || predicate.rank() != 0) {
    throw InvalidArgument("the predicate must be a scalar bool, got {}", predicate.Describe());
  }
  return predicate.scalar<bool>();
}

// What If and While take for true: a non-zero number, a non-empty string, a non-empty tensor.
bool IsTrue(const Step& step, const Tensor& t) {
  if (step.scalar_predicate) return ScalarBool(t);
  if (t.rank() != 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kBool) return t.scalar<bool>();
  if (t.dtype() == DType::kString) return !t.scalar<std::string>().empty();
  return t.AsDouble() != 0;
}

}  // namespace

void StepRunner::RunTraced(const Step& step) {
  if (trace_ == nullptr) return Run(step);
  const int64_t start = StepTrace::Now();
  Run(step);
  StepTrace::Event event{.node = step.io.node_name,
                         .op = step.node->type(),
                         .device = step.call >= 0 ? plan_.calls[step.call].fragment->task
                                   : step.device  ? step.device->name()
                                                  : "",
                         .start_ns = start,
                         .end_ns = StepTrace::Now()};
  for (const int32_t slot : step.io.outputs) {
    event.output_bytes += static_cast<int64_t>(frame_.slots[slot].bytes());
  }
  const Kernel* kernel = frame_.kernels[&step - plan_.steps.data()].get();
  if (const auto* chosen = dynamic_cast<const ImplementationName*>(kernel)) {
    event.implementation = chosen->implementation();
  }
  trace_->Add(std::move(event));
}

bool StepRunner::Dead(const Step& step) {
  const size_t index = &step - plan_.steps.data();
  bool dead = false;
  if (step.kind == StepKind::kMerge) {
    dead = true;
    for (int32_t slot : step.io.inputs) dead = dead && frame_.dead_slots[slot];
  } else {
    for (int32_t slot : step.dead_slots) dead = dead || frame_.dead_slots[slot];
    for (int32_t other : step.dead_steps) dead = dead || frame_.dead_steps[other];
  }
  frame_.dead_steps[index] = dead;
  for (int32_t slot : step.io.outputs) frame_.dead_slots[slot] = dead;
  return dead;
}

void StepRunner::RunStructural(const Step& step) {
  switch (step.kind) {
    case StepKind::kSwitch:
      return RunSwitch(step);
    case StepKind::kMerge:
      return RunMerge(step);
    case StepKind::kIf:
      return RunBranch(step, IsTrue(step, context_.input(0)) ? 1 : 0);
    case StepKind::kCase: {
      const int64_t last = static_cast<int64_t>(step.branches.size()) - 1;
      const Tensor& number = context_.input(0);
      if (number.rank() != 0) {
        throw InvalidArgument("branch_index must be a scalar, got {}", number.Describe());
      }
      const int64_t index = number.AsInt64();
      return RunBranch(step, index < 0 || index > last ? last : index);
    }
    case StepKind::kWhile:
      return RunWhile(step);
    case StepKind::kSend:
      return run_.rendezvous->Send(run_.step_id, step.key, context_.input(0).Persistent());
    case StepKind::kReceive:
      return context_.SetOutput(
          0, run_.rendezvous->Receive(run_.step_id, step.key, *run_.cancellation));
    case StepKind::kCallStart:
      return StartCall(step);
    case StepKind::kCallFinish:
      return FinishCall(step);
    case StepKind::kKernel:
      break;
  }
}

void StepRunner::RunSwitch(const Step& step) {
  const int taken = ScalarBool(context_.input(1)) ? 1 : 0;
  context_.ForwardInput(0, taken);
  frame_.dead_slots[step.io.outputs[1 - taken]] = true;
}

void StepRunner::RunMerge(const Step& step) {
  for (int i = 0; i < context_.num_inputs(); ++i) {
    if (frame_.dead_slots[step.io.inputs[i]]) continue;
    context_.ForwardInput(i, 0);
    if (context_.num_outputs() > 1) context_.SetOutput(1, Tensor(i));
    return;
  }
}

Frame& StepRunner::BranchFrame(const Step& step, size_t branch) {
  auto& frames = frame_.branches[&step - plan_.steps.data()];
  if (frames.empty()) frames.resize(step.branches.size());
  if (!frames[branch]) frames[branch] = step.branches[branch]->NewFrame(*run_.allocator);
  return *frames[branch];
}

void StepRunner::RunBranch(const Step& step, size_t branch) {
  std::vector<Tensor> feeds;
  for (int i = 1; i < context_.num_inputs(); ++i) feeds.push_back(context_.TakeInput(i));
  std::vector<Tensor> results(step.results.size());
  RunPlan(*step.branches[branch], BranchFrame(step, branch), run_, feeds, results, trace_);
  for (size_t i = 0; i < results.size(); ++i) {
    context_.SetOutput(step.results[i], std::move(results[i]));
  }
}

void StepRunner::RunWhile(const Step& step) {
  const Plan& cond = *step.branches[0];
  const Plan& body = *step.branches[1];
  Frame& cond_frame = BranchFrame(step, 0);
  Frame& body_frame = BranchFrame(step, 1);
  const size_t count = step.io.inputs.size();
  std::vector<Tensor> variables(count), scratch(count);
  for (size_t i = 0; i < count; ++i) variables[i] = context_.TakeInput(static_cast<int>(i));
  for (;;) {
    run_.cancellation->ThrowIfCancelled();
    for (size_t i = 0; i < count; ++i) {
      if (cond.feed_slots[i] >= 0) scratch[i] = variables[i];
    }
    Tensor go_on;
    RunPlan(cond, cond_frame, run_, scratch, std::span(&go_on, 1), trace_);
    for (Tensor& t : scratch) t = Tensor();
    if (!IsTrue(step, go_on)) break;
    // A variable that the body passes through goes along as it is; the others are given away, so
    // that the body may change them in place.
    for (size_t i = 0; i < count; ++i) {
      scratch[i] =
          body.passthrough[i] == static_cast<int32_t>(i) ? variables[i] : std::move(variables[i]);
    }
    RunPlan(body, body_frame, run_, scratch, variables, trace_);
    for (Tensor& t : scratch) t = Tensor();
  }
  for (size_t i = 0; i < step.io.outputs.size(); ++i) {
    context_.SetOutput(static_cast<int>(i), std::move(variables[i]));
  }
}

void StepRunner::StartCall(const Step& step) {
  const ThreadTeam::Limit limit(context_.threads());  // of copies
  std::vector<Tensor> inputs;
  inputs.reserve(step.io.inputs.size());
  for (int i = 0; i < context_.num_inputs(); ++i) inputs.push_back(context_.input(i).Persistent());
  frame_.calls->Start(static_cast<size_t>(step.call), std::move(inputs));
}

namespace {

// While it lives, another thread may run steps.
class TurnGiven {
 public:
  explicit TurnGiven(StepTurn* turn) : turn_(turn) {
    if (turn_ != nullptr) turn_->Release();
  }
  ~TurnGiven() {
    if (turn_ != nullptr) turn_->Acquire();
  }
  TurnGiven(const TurnGiven&) = delete;
  TurnGiven& operator=(const TurnGiven&) = delete;

 private:
  StepTurn* const turn_;
};

}  // namespace

// Memory and kernels downstream rely on what is known of the outputs.
void StepRunner::FinishCall(const Step& step) {
  const ThreadTeam::Limit limit(context_.threads());  // of copies
  std::vector<Tensor> outputs(step.io.outputs.size());
  {
    // What the call may be waiting for runs meanwhile.
    const bool gives_turn = run_.turn != nullptr && step.node->attr<bool>("waits");
    const TurnGiven given(gives_turn ? run_.turn : nullptr);
    frame_.calls->Finish(static_cast<size_t>(step.call), outputs, *run_.cancellation);
  }
  const Fragment& fragment = *plan_.calls[static_cast<size_t>(step.call)].fragment;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output expected = step.node->output(static_cast<int>(i));
    if (!outputs[i].valid() || outputs[i].dtype() != expected.dtype() ||
        !expected.shape().CompatibleWith(outputs[i].shape())) {
      throw Internal("{} gave {} for {}, which is {} {}", ShortTaskName(fragment.task),
                     outputs[i].valid() ? outputs[i].Describe() : "nothing", fragment.fetches[i],
                     DTypeName(expected.dtype()), expected.shape().ToString());
    }
    context_.SetOutput(static_cast<int>(i), std::move(outputs[i]));
  }
}

void ThrowNamed(const Step& step, const RunEnvironment& run) {
  try {
    throw;
  } catch (const Error& e) {
    if (e.code() == Code::kOk) ThrowOkError(*step.node, e);
    if (run.cancellation->cancelled()) throw;  // the reason is not this node's
    if (step.call >= 0) throw;                 // it names node and task there
    const bool has_branches = !step.branches.empty();
    if (has_branches && e.message().starts_with('[')) throw;  // the branch named its own step
    throw e.WithPrefix(fmt::format("[{} {}] ", step.node->type(), step.node->name()));
  } catch (const std::length_error&) {  // of a container larger than there can be
    throw ResourceExhausted("[{} {}] out of memory", step.node->type(), step.node->name());
  } catch (const std::bad_alloc&) {
    throw ResourceExhausted("[{} {}] out of memory", step.node->type(), step.node->name());
  } catch (const std::exception& e) {
    throw Internal("[{} {}] {}", step.node->type(), step.node->name(), e.what());
  } catch (...) {
    throw Internal("[{} {}] the kernel threw what is not a std::exception", step.node->type(),
                   step.node->name());
  }
}

}  // namespace sextant
