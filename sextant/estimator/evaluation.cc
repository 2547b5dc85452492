#include "sextant/estimator/evaluation.h"

#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/directory_name.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/input_limits.h"
#include "sextant/base/logging.h"
#include "sextant/device/resource_manager.h"
#include "sextant/device/variable.h"
#include "sextant/formats/event_writer.h"
#include "sextant/formats/summary_values.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/dataset/iterator_resource.h"
#include "sextant/ops/dataset/iterator_states.h"
#include "sextant/ops/state/variable.h"
#include "sextant/proto/summary.pb.h"
#include "sextant/train/hooked_run.h"
#include "sextant/train/local_initializer.h"
#include "sextant/train/own_resources.h"
#include "sextant/train/queue_runner.h"

namespace sextant {
namespace {

constexpr const char* kContainer = "localhost";  // of variables in a ResourceManager
// How long a training that is about to begin waits for the first batch of its evaluations.
constexpr std::chrono::seconds kFirstBatchTime(2);

std::string TimeText(LogStyle style) {
  if (style == LogStyle::k2017) {
    return fmt::format("{:%Y-%m-%d-%H:%M:%S}", fmt::gmtime(std::time(nullptr)));
  }
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

bool HasMetric(const NamedMetrics& metrics, const std::string& name) {
  return std::any_of(metrics.begin(), metrics.end(),
                     [&](const auto& metric) { return metric.first == name; });
}

void LogProgress(int64_t done, const std::optional<int64_t>& all, LogStyle style) {
  if (!all) return;
  const int64_t tenth = style == LogStyle::k2017 ? 1 : std::max<int64_t>(*all / 10, 1);
  if (done % tenth == 0 || done == *all) LogInfo("Evaluation [{}/{}]", done, *all);
}

std::string ResultText(const EvalResult& result) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : result) parts.push_back(fmt::format("{} = {:g}", name, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Evaluation::Evaluation(const Estimator::State& state, const InputFn& input_fn,
                       EvaluateOptions options)
    : state_(state), options_(std::move(options)) {
  if (options_.steps && *options_.steps <= 0) {
    throw InvalidArgument("an evaluation needs at least 1 step, not {}", *options_.steps);
  }
  CheckDirectoryName("the name of an evaluation", options_.name);
  model_ = BuildModel(state, input_fn, Mode::kEval);
  const GraphScope use(model_->graph);
  metrics_ = model_->spec.eval_metrics;
  if (!HasMetric(metrics_, "loss")) {
    metrics_.emplace_back("loss", metrics::Mean(model_->spec.loss, {.name = "mean_loss"}));
  }
  hooks_ = options_.hooks;
  hooks_.insert(hooks_.end(), model_->spec.evaluation_hooks.begin(),
                model_->spec.evaluation_hooks.end());
  for (const train::HookRef& hook : hooks_) hook->Begin();
  local_init_ = train::LocalInitializer(model_->graph);
  MakeSession();
}

void Evaluation::MakeSession() {
  session_ = std::make_unique<Session>(model_->graph, model_->session);
}

Evaluation::~Evaluation() = default;

void Evaluation::CheckInput() {
  if (!model_->begin_input) return;
  const InputLimitsScope limits(state_.config.session.memory_limit);
  session_->Run(model_->begin_input);
  // To tell the position of an iteration, its files must have been found.
  data::SaveIteratorStates(session_->resources());
  const auto iterator = session_->resources().Lookup<IteratorResource>(
      IteratorResource::kContainer, model_->input_iterator.node()->name());
  if (!iterator) return;
  CancellationToken token;
  try {
    const auto deadline =
        DeadlineTimer::Schedule(std::chrono::steady_clock::now() + kFirstBatchTime, token);
    if (!iterator->Await(1, token)) ThrowNoBatch();
  } catch (const Error& e) {
    if (e.code() != Code::kDeadlineExceeded) throw;
    return;
  }
  iterator->AwaitedError().ThrowIfError();
  has_begun_input_ = true;
}

void Evaluation::ThrowNoBatch() const {
  throw InvalidArgument("the evaluation input of {} gave no batch; is the data empty?",
                        state_.config.model_dir);
}

EvalResult Evaluation::OfCheckpoint(const std::string& path) {
  Load(path);
  return Run(path);
}

void Evaluation::Load(const std::string& path) {
  if (shared_) {
    throw FailedPrecondition("this evaluation uses the variables of a training session");
  }
  if (!session_) MakeSession();
  RestoreVariables(*session_, model_->graph, path);
}

EvalResult Evaluation::OfSession(Session& training, const std::string& path) {
  Share(training);
  return Run(path);
}

void Evaluation::Share(Session& training) {
  if (!session_) MakeSession();
  if (shared_) return;
  const GraphScope use(model_->graph);
  for (const Variable& variable : CollectedVariables()) {
    const auto resource =
        training.resources().Lookup<VariableResource>(kContainer, variable.name());
    if (!resource) {
      train::ThrowIfOfAnotherTask(training, *variable.handle().node());
      throw NotFound(
          "the model has a variable '{}' when it is evaluated that it does not have when it is "
          "trained",
          variable.name());
    }
    session_->resources().shared().LookupOrCreate<VariableResource>(kContainer, variable.name(),
                                                                    [&] { return resource; });
  }
  shared_ = true;
}

EvalResult Evaluation::Run(const std::string& path) {
  const LogStyle style = state_.config.log_style;
  LogInfo("Starting evaluation at {}", TimeText(style));
  const CancellationScope cancellable(state_.config.cancellation.get());
  const InputLimitsScope limits(state_.config.session.memory_limit);
  session_->Run(local_init_);
  const bool begun = std::exchange(has_begun_input_, false);
  if (model_->begin_input && !begun) session_->Run(model_->begin_input);
  train::HookedRun run(*session_, hooks_, state_.config.cancellation.get());
  std::optional<train::QueueThreads> queues(*session_);  // no nodes from here on
  for (const train::HookRef& hook : hooks_) hook->AfterCreateSession(*session_);
  std::vector<Operation> updates;
  for (const auto& [name, metric] : metrics_) updates.push_back(metric.update);
  int64_t done = 0;
  try {
    while (!run.stop_requested() && (!options_.steps || done < *options_.steps)) {
      run.Run({}, {}, updates);
      LogProgress(++done, options_.steps, style);
    }
  } catch (const Error& e) {
    queues->ThrowFailure();
    if (e.code() != Code::kOutOfRange) throw;
  }
  if (done == 0) ThrowNoBatch();
  std::vector<Output> values;
  for (const auto& [name, metric] : metrics_) values.push_back(metric.value);
  const std::vector<Tensor> measured = session_->Run(values);
  for (const train::HookRef& hook : hooks_) hook->End(*session_);

  EvalResult result;
  for (size_t i = 0; i < metrics_.size(); ++i) result[metrics_[i].first] = measured[i].AsDouble();
  const int64_t step = run.global_step();
  result["global_step"] = static_cast<double>(step);
  LogInfo("Finished evaluation at {}", TimeText(style));
  LogInfo("Saving dict for global step {}: {}", step, ResultText(result));
  Write(result, step, path);
  if (queues->any()) {
    queues.reset();
    session_.reset();
    shared_ = false;
  }
  return result;
}

void Evaluation::Write(const EvalResult& result, int64_t step, const std::string& path) {
  if (!events_) {
    const std::string name = options_.name.empty() ? "eval" : "eval_" + options_.name;
    events_ = std::make_unique<EventWriter>(JoinPath(state_.config.model_dir, name));
    // What an evaluation of this step left behind before it was killed does not count.
    events_->AddSessionStart(step);
  }
  proto::Summary summary;
  for (const auto& [metric, value] : result) {
    if (metric != "global_step") AddScalar(&summary, metric, static_cast<float>(value));
  }
  LogInfo("Saving 'checkpoint_path' summary for global step {}: {}", step, path);
  AddText(&summary, "checkpoint_path", Tensor(path));
  events_->AddSummary(summary, step);
  events_->Flush();
}

}  // namespace sextant
