#include "sextant/train/monitored_session.h"

#include <algorithm>
#include <unordered_map>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/state/variable.h"

namespace sextant::train {
namespace {

// One step's fetches and feeds, gathered from all who want some.
class Step : public RunContext {
 public:
  explicit Step(Session& session) : session_(session) {}

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

  size_t Index(Output tensor) {
    const auto [it, added] = index_.try_emplace(tensor, fetches_.size());
    if (added) fetches_.push_back(tensor);
    return it->second;
  }
  void Run(const std::vector<Operation>& targets) {
    RunOptions options;
    if (traced_) options.trace = &trace_;
    values_ = session_.Run(feeds_, fetches_, targets, options);
    ran_ = true;
  }
  const Tensor& value(size_t i) const { return values_[i]; }
  bool stop_requested() const { return stop_; }

 private:
  Session& session_;
  FeedMap feeds_;
  std::vector<Output> fetches_;
  std::unordered_map<Output, size_t> index_;
  std::vector<Tensor> values_;
  StepTrace trace_;
  bool traced_ = false, ran_ = false, stop_ = false;
};

std::vector<Operation> LocalInitializers(const Graph& graph) {
  std::vector<Operation> operations;
  for (const Variable& variable : CollectedVariables(kLocalVariables)) {
    operations.push_back(variable.initializer());
  }
  for (const Output& table : graph.Collection("table_initializer")) operations.push_back(table);
  return operations;
}

}  // namespace

MonitoredSession::MonitoredSession(Graph& graph, MonitoredSessionOptions options)
    : graph_(graph), options_(std::move(options)) {
  const GraphScope use(graph_);
  for (const auto& hook : options_.hooks) hook->Begin();
  run_state_ = std::make_unique<RunState>();
  init_ = GlobalVariablesInitializer();
  local_init_ = Group(LocalInitializers(graph_), "local_init");
  saver_ = std::make_unique<Saver>(graph_, options_.saver);
  session_ = std::make_unique<Session>(graph_, options_.session);
  Initialise();
  for (const auto& hook : options_.hooks) hook->AfterCreateSession(*session_);
}

MonitoredSession::~MonitoredSession() = default;

void MonitoredSession::Initialise() {
  restored_from_ = options_.checkpoint_path;
  if (restored_from_.empty() && !options_.checkpoint_dir.empty()) {
    restored_from_ = LatestCheckpoint(options_.checkpoint_dir).value_or("");
    saver_->Recover(options_.checkpoint_dir);
  }
  session_->Run(local_init_);
  session_->Run(init_);
  if (!restored_from_.empty()) {
    LogInfo("Restoring parameters from {}", restored_from_);
    saver_->Restore(*session_, restored_from_);
    run_state_->Apply(*session_, options_.hooks);
  }
  if (options_.after_init) options_.after_init(*session_);
}

std::vector<Tensor> MonitoredSession::Run(const std::vector<Output>& fetches, const FeedMap& feeds,
                                          const std::vector<Operation>& targets) {
  if (stop_ || closed_) throw FailedPrecondition("the training has stopped; make a new session");
  Step step(*session_);
  for (const auto& [tensor, value] : feeds) step.Feed(tensor, value);
  std::vector<size_t> wanted;
  for (const Output& fetch : fetches) wanted.push_back(step.Index(fetch));
  for (const auto& hook : options_.hooks) hook->BeforeRun(step);
  step.Run(targets);
  for (const auto& hook : options_.hooks) hook->AfterRun(step);
  if (step.stop_requested()) stop_ = true;
  std::vector<Tensor> values;
  for (const size_t i : wanted) values.push_back(step.value(i));
  return values;
}

std::string MonitoredSession::Save(const std::string& path, int64_t step) {
  run_state_->Capture(*session_, options_.hooks);
  return saver_->Save(*session_, path, step);
}

void MonitoredSession::Close() {
  if (closed_) return;
  closed_ = stop_ = true;
  for (const auto& hook : options_.hooks) hook->End(*session_);
}

}  // namespace sextant::train
