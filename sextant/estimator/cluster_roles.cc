#include "sextant/estimator/cluster_roles.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/exit_code.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/checkpoint_evaluator.h"
#include "sextant/estimator/cluster_training.h"
#include "sextant/estimator/done_marker.h"
#include "sextant/estimator/evaluator_role.h"
#include "sextant/estimator/model_dir_lock.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/estimator/restart_count.h"
#include "sextant/formats/damaged_checkpoint.h"

namespace sextant {
namespace {

int64_t LastStep(const std::string& model_dir) {
  const auto newest = CheckpointToResume(model_dir);
  return newest ? StepOfCheckpoint(*newest) : 0;
}

// Whether this role comes when all is over, because a platform starts again what has ended.
bool EndedBefore(const RunConfig& config, std::optional<int64_t> max_steps) {
  if (!IsDone(config.model_dir, max_steps)) return false;
  LogInfo("The training in {} has ended: there is nothing to do for {} {}.", config.model_dir,
          config.task.type, config.task.index);
  return true;
}

// The others must be able to tell the trainings of a process apart.
void CheckFirstTraining() {
  static std::atomic<bool> trained = false;
  if (!trained.exchange(true)) return;
  throw Unimplemented(
      "a process of a cluster trains once; start the program again for another training");
}

void DelayWorker(const RunConfig& config) {
  if (!config.max_worker_delay_secs || config.task.is_chief) return;
  const int64_t delay =
      std::min<int64_t>(*config.max_worker_delay_secs, 5 * (config.task.index + 1));
  LogInfo("Waiting {} secs before starting training.", delay);
  SleepUntil(std::chrono::steady_clock::now() + std::chrono::seconds(delay),
             config.cancellation.get());
}

struct MemberTraining {
  const Estimator::State& state;
  const InputFn& input_fn;
  TrainOptions options;
  TrainingInput handling = {};
  // Of the chief, when all is saved and the others may still look at it.
  std::function<void(int64_t step)> after_done = {};
};

// Ends the membership whatever happens, so that a process that takes the place of this one is let
// in at once.
class Membership {
 public:
  explicit Membership(Cluster& cluster) : cluster_(cluster) {}
  ~Membership() {
    try {
      cluster_.Leave();
    } catch (const Error&) {  // then the lease ends by itself
    }
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  Cluster& cluster_;
};

// A chief that was stopped for longer than its lease keeps the lock that its successor needs: who
// is the chief, the coordinator says.
Status LockModelDir(const RunConfig& config, bool take_over, std::optional<ModelDirLock>& lock) {
  std::string training;
  if (const auto servers = config.task.cluster.find("ps"); servers != config.task.cluster.end()) {
    for (const std::string& server : servers->second) training += server + ";";
  }
  try {
    lock.emplace(config.model_dir, training, take_over);
  } catch (const Error& e) {
    if (e.code() != Code::kFailedPrecondition) throw;
    return e.status();
  }
  return {};
}

// Whether a training that ends with this error has not failed by itself.
bool EndedByOthers(const Error& error) {
  return error.code() == Code::kCancelled || ExitCodeOf(error.status(), kExitOther) >= 128;
}

int64_t RunCounted(const MemberTraining& training) {
  const RunConfig& config = training.state.config;
  const auto run = [&] {
    return RunTraining(training.state, training.input_fn, training.options, training.handling);
  };
  if (!config.task.is_chief) return run();
  RestartCount starts(config.model_dir, CheckpointToResume(config.model_dir).value_or(""));
  try {
    const int64_t step = run();
    starts.TakeBack();
    return step;
  } catch (const Error& error) {
    if (EndedByOthers(error)) starts.TakeBack();
    throw;
  }
}

int64_t TrainAsMember(MemberTraining training) {
  const RunConfig& config = training.state.config;
  CheckFirstTraining();
  DelayWorker(config);
  std::optional<ModelDirLock> lock;
  Status refused;
  if (config.task.is_chief) refused = LockModelDir(config, false, lock);
  const std::shared_ptr<Cluster> cluster = OpenClusterOf(config, training.options.max_steps);
  ClusterTrainingBegins();
  const Membership membership(*cluster);
  if (!refused.ok()) {
    cluster->Join();
    LockModelDir(config, true, lock).ThrowIfError();
  }
  if (config.task.is_chief) {
    RemoveDoneMarker(config.model_dir);
    FallBackToWholeCheckpoint(config.model_dir);
  }
  training.handling.cluster = cluster;
  const int64_t step = RunCounted(training);
  if (!config.task.is_chief) return step;
  WriteDoneMarker(
      config.model_dir,
      {.step = step, .max_steps = training.options.max_steps, .reason = cluster->stop_reason()});
  if (training.after_done) training.after_done(step);
  cluster->Finish();
  return step;
}

}  // namespace

int64_t ServeParameters(const RunConfig& config, std::optional<int64_t> max_steps) {
  if (config.task.type != "ps") {
    throw InvalidArgument("TF_CONFIG makes this process no parameter server but {} {}",
                          config.task.type, config.task.index);
  }
  CheckFirstTraining();
  const std::shared_ptr<Cluster> cluster = OpenClusterOf(config, max_steps);
  ClusterTrainingBegins();
  cluster->Serve([&] { return IsDone(config.model_dir, max_steps); });
  return LastStep(config.model_dir);
}

int64_t TrainInCluster(const Estimator::State& state, const InputFn& input_fn,
                       const TrainOptions& options) {
  const RunConfig& config = state.config;
  if (config.task.type == "evaluator") {
    throw InvalidArgument("a task of type evaluator does not train; TF_CONFIG says what it is");
  }
  if (options.max_steps && EndedBefore(config, options.max_steps))
    return LastStep(config.model_dir);
  if (config.task.type == "ps") return ServeParameters(config, options.max_steps);
  return TrainAsMember({state, input_fn, options, {.begin_ended_anew = true}});
}

TrainAndEvaluateResult TrainAndEvaluateInCluster(const Estimator& estimator, const TrainSpec& train,
                                                 const EvalSpec& eval) {
  const RunConfig& config = estimator.config();
  const std::string& type = config.task.type;
  if (type == "evaluator") return RunEvaluator(estimator, train, eval);
  TrainAndEvaluateResult result;
  if (EndedBefore(config, train.max_steps)) {
    result.global_step = LastStep(config.model_dir);
    return result;
  }
  if (type == "ps") {
    result.global_step = ServeParameters(config, train.max_steps);
    return result;
  }
  LogInfo("Running training as {} {} of a cluster of {} tasks that train and {} ps.", type,
          config.task.index, config.task.num_replicas, config.task.num_ps);
  TrainOptions options{.max_steps = train.max_steps, .hooks = train.hooks};
  if (type == "master") {
    const auto evaluator = std::make_shared<CheckpointEvaluator>(estimator, train, eval);
    options.listeners = {evaluator};
    const int64_t step = TrainAsMember(
        {estimator.state(), train.input_fn, options, {.found = [&] { evaluator->Check(); }}});
    evaluator->result().global_step = step;
    return evaluator->result();
  }
  if (config.task.is_chief) {
    options.listeners = {std::make_shared<TrainingLedger>(estimator, eval)};
  }
  result.global_step = TrainAsMember(
      {estimator.state(), train.input_fn, options, {}, [&](int64_t step) {
         AwaitEvaluator(config.model_dir, step, {.cancellation = config.cancellation});
       }});
  return result;
}

}  // namespace sextant
