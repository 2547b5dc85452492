#include "sextant/train/hooked_run.h"

#include <optional>
#include <unordered_map>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/train/global_step.h"

namespace sextant::train {
namespace {

// One step's fetches and feeds, gathered from all who want some.
class Step : public RunContext {
 public:
  Step(HookedRun& owner, Session& session) : owner_(owner), session_(session) {}

  void Fetch(Output tensor) override { Index(tensor); }
  void Feed(Output tensor, Tensor value) override { feeds_.emplace_back(tensor, std::move(value)); }
  void Trace() override { traced_ = true; }
  const StepTrace* trace() const override { return traced_ && ran_ ? &trace_ : nullptr; }
  const Tensor& Value(Output tensor) const override {
    const auto it = index_.find(tensor);
    if (it == index_.end() || !ran_) {
      throw FailedPrecondition("{} was not fetched in this step", tensor.name());
    }
    return values_[it->second];
  }
  void RequestStop() override { stop_ = true; }
  Session& session() override { return session_; }
  int64_t global_step() const override {
    if (!step_) step_ = owner_.global_step();
    return *step_;
  }
  void ForgetGlobalStep() override {
    owner_.ForgetGlobalStep();
    step_.reset();
  }

  size_t Index(Output tensor) {
    const auto [it, added] = index_.try_emplace(tensor, fetches_.size());
    if (added) fetches_.push_back(tensor);
    return it->second;
  }
  void Run(const std::vector<Operation>& targets, CancellationToken* cancellation,
           const std::function<bool(const Error&)>& recover,
           const std::function<RunToken*()>& begin, std::vector<Tensor>& sources) {
    RunOptions options{.cancellation = cancellation};
    if (traced_) options.trace = &trace_;
    if (recover) options.sources = &sources;
    while (!ran_) {
      try {
        if (begin) options.token = begin();
        values_ = session_.Run(feeds_, fetches_, targets, options);
        ran_ = true;
      } catch (const Error& e) {
        if (!recover || !recover(e)) throw;
      }
    }
    step_.reset();
  }
  const Tensor& value(size_t i) const { return values_[i]; }
  bool stop_requested() const { return stop_; }

 private:
  HookedRun& owner_;
  Session& session_;
  mutable std::optional<int64_t> step_;
  FeedMap feeds_;
  std::vector<Output> fetches_;
  std::unordered_map<Output, size_t> index_;
  std::vector<Tensor> values_;
  StepTrace trace_;
  bool traced_ = false, ran_ = false, stop_ = false;
};

// A read that waits for everything else that a Run computes (plan_builder.cc).
Output ReadLast(const Variable& step) {
  const std::string name = step.name() + "/ReadLast";
  Graph& graph = step.handle().graph();
  if (Node* node = graph.FindNode(name)) return node->output(0);
  const GraphScope use(graph);
  return OpBuilder("ReadVariableOp")
      .Input(step.handle())
      .Attr("dtype", step.dtype())
      .Attr("_read_last", true)
      .Device(step.handle().node()->device())
      .Name(name)
      .Build();
}

}  // namespace

HookedRun::HookedRun(Session& session, std::vector<HookRef> hooks, CancellationToken* cancellation)
    : session_(session), hooks_(std::move(hooks)), cancellation_(cancellation) {
  const Variable step = GetGlobalStep(session.graph());
  if (!step) return;
  const GraphScope use(step.handle().graph());
  global_step_ = step.value();
  step_after_ = ReadLast(step);
}

int64_t HookedRun::global_step() const {
  if (!global_step_) {
    throw FailedPrecondition(
        "the graph has no global step; make one with train::GetOrCreateGlobalStep()");
  }
  return last_step_ ? *last_step_ : session_.Run(global_step_).AsInt64();
}

std::vector<Tensor> HookedRun::Run(const std::vector<Output>& fetches, const FeedMap& feeds,
                                   const std::vector<Operation>& targets) {
  Step step(*this, session_);
  for (const auto& [tensor, value] : feeds) step.Feed(tensor, value);
  std::vector<size_t> wanted;
  for (const Output& fetch : fetches) wanted.push_back(step.Index(fetch));
  for (const auto& hook : hooks_) hook->BeforeRun(step);
  size_t after = 0;
  const bool read_step = step_after_ && !end_;
  if (read_step) after = step.Index(step_after_);
  last_step_.reset();
  sources_.clear();
  step.Run(targets, cancellation_, recover_, begin_, sources_);
  if (read_step) last_step_ = step.value(after).AsInt64();
  if (end_) last_step_ = end_();
  for (const auto& hook : hooks_) hook->AfterRun(step);
  if (step.stop_requested()) stop_ = true;
  std::vector<Tensor> values;
  for (const size_t i : wanted) values.push_back(step.value(i));
  return values;
}

}  // namespace sextant::train
