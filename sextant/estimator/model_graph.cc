#include "sextant/estimator/model_graph.h"

#include <algorithm>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/input_limits.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/cluster_training.h"
#include "sextant/estimator/mirrored_strategy.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/damaged_checkpoint.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/partition_scope.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/train/global_step.h"
#include "sextant/train/run_state.h"
#include "sextant/train/saver.h"
#include "sextant/train/sync_replicas.h"

namespace sextant {
namespace {

Input::Tensors Split(const data::ElementOutputs& element, const std::vector<std::string>& labels) {
  Input::Tensors split;
  for (const auto& [name, output] : element.fields()) {
    const bool label = std::find(labels.begin(), labels.end(), name) != labels.end();
    (label ? split.second : split.first).Set(name, output);
  }
  return split;
}

const std::optional<MirroredStrategy>& StrategyOf(const RunConfig& config, Mode mode) {
  static const std::optional<MirroredStrategy> none;
  if (mode == Mode::kTrain) return config.train_distribute;
  return mode == Mode::kEval ? config.eval_distribute : none;
}

// What gives the next batch, each time it is called by nodes of its own.
std::function<Input::Tensors()> InputOf(const InputFn& input_fn, Mode mode, int devices,
                                        ModelGraph* model) {
  if (!input_fn) throw InvalidArgument("the input_fn is not set");
  const Input input = input_fn();
  if (input.build()) return input.build();
  if (!input.dataset().valid()) throw InvalidArgument("the input_fn gave no dataset");
  const NameScope scope("input");
  if (mode == Mode::kTrain) {
    const auto iterator = data::OneShotIterator(input.dataset(), {.name = "iterator"});
    model->input_iterator = iterator.handle();
    model->input = input.dataset();
    return [=] {
      ++model->batches_of_step;
      return Split(iterator.GetNext(), input.labels());
    };
  }
  const data::Dataset dataset =
      mode == Mode::kEval ? FillLastStep(input.dataset(), devices) : input.dataset();
  const data::GraphIterator iterator(dataset.Spec(), {.name = "iterator"});
  model->input_iterator = iterator.handle();
  model->begin_input = iterator.MakeInitializer(dataset);
  return [=] { return Split(iterator.GetNext(), input.labels()); };
}

EstimatorSpec Call(const Estimator::State& state, Input::Tensors batch, Mode mode) {
  if (mode == Mode::kPredict) batch.second = {};
  std::optional<train::SyncReplicasScope> synchronous;
  if (const ClusterConfig& cluster = state.config.cluster; mode == Mode::kTrain && cluster.sync) {
    const int trainers = std::max(1, state.config.task.num_replicas);
    const int aggregate = cluster.replicas_to_aggregate;
    synchronous.emplace(
        train::SyncReplicasOptions{.replicas_to_aggregate = aggregate > 0 ? aggregate : trainers,
                                   .total_num_replicas = trainers,
                                   .deterministic = cluster.deterministic});
  }
  std::optional<PartitionScope> parts;
  if (mode == Mode::kTrain) parts.emplace(PartitionerOf(state.config));
  return state.model_fn(
      {std::move(batch.first), std::move(batch.second), mode, state.params, state.config});
}

// Tasks that train together draw different numbers; the chief those of a process alone.
std::optional<int64_t> SeedOf(const RunConfig& config, Mode mode) {
  const int rank = config.task.rank.value_or(0);
  if (!config.random_seed || mode != Mode::kTrain || rank == 0) return config.random_seed;
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // spreads neighbours
  return static_cast<int64_t>(
      (static_cast<uint64_t>(*config.random_seed) + kOdd * static_cast<uint64_t>(rank)) >> 1);
}

void CheckScalarLoss(const EstimatorSpec& spec, const char* when) {
  if (!spec.loss) throw InvalidArgument("the model function gave no loss, which {} needs", when);
  if (spec.loss.shape().rank() > 0) {
    throw InvalidArgument("the loss {} must be one number, not of shape {}", spec.loss.name(),
                          spec.loss.shape().ToString());
  }
}

void CheckSpec(const EstimatorSpec& spec, Mode mode) {
  if (mode == Mode::kTrain) {
    CheckScalarLoss(spec, "training");
    if (!spec.train_op) throw InvalidArgument("the model function gave no train_op");
  } else if (mode == Mode::kEval) {
    CheckScalarLoss(spec, "evaluation");
  } else if (spec.predictions.empty() && spec.export_outputs.empty()) {
    throw InvalidArgument("the model function gave no predictions");
  }
}

}  // namespace

std::unique_ptr<ModelGraph> BuildModel(const Estimator::State& state, const InputFn& input_fn,
                                       Mode mode) {
  auto model = std::make_unique<ModelGraph>();
  const GraphScope use(model->graph);
  // The first element is read.
  const CancellationScope cancellable(state.config.cancellation.get());
  const InputLimitsScope limits(state.config.session.memory_limit);
  model->graph.set_seed(SeedOf(state.config, mode));
  train::GetOrCreateGlobalStep();
  const auto& strategy = StrategyOf(state.config, mode);
  model->session = strategy ? SessionFor(*strategy, state.config.session) : state.config.session;
  const int devices = strategy ? static_cast<int>(DevicesOf(*strategy, model->session).size()) : 1;
  const auto next_batch = InputOf(input_fn, mode, devices, model.get());
  LogInfo("Calling model_fn.");
  if (strategy) {
    model->spec =
        BuildMirrored(*strategy, next_batch, state.model_fn, mode, state.params, state.config);
  } else {
    model->spec = Call(state, next_batch(), mode);
  }
  LogInfo("Done calling model_fn.");
  CheckSpec(model->spec, mode);
  return model;
}

std::unique_ptr<ModelGraph> BuildServingModel(const Estimator::State& state,
                                              const ServingInputFn& receiver) {
  if (!receiver) throw InvalidArgument("an export needs a serving input receiver");
  auto model = std::make_unique<ModelGraph>();
  const GraphScope use(model->graph);
  model->graph.set_seed(state.config.random_seed);
  train::GetOrCreateGlobalStep();
  ServingInputReceiver input = receiver();
  model->receiver_tensors = std::move(input.receiver_tensors);
  model->receiver_alternatives = std::move(input.receiver_alternatives);
  model->request_of = std::move(input.request_of);
  model->session = state.config.session;
  model->spec = Call(state, {std::move(input.features), {}}, Mode::kPredict);
  CheckSpec(model->spec, Mode::kPredict);
  return model;
}

std::string CheckpointOf(const Estimator::State& state, const std::string& asked) {
  const std::string path =
      asked.empty() ? LatestCheckpoint(state.config.model_dir).value_or("") : asked;
  if (path.empty()) {
    CheckpointToResume(state.config.model_dir);  // says what is damaged
    throw NotFound("there is no checkpoint in model_dir {}; train the model first",
                   state.config.model_dir);
  }
  if (!CheckpointExists(path)) throw NotFound("there is no checkpoint {}", path);
  return path;
}

std::optional<std::string> CheckpointToResume(const std::string& model_dir) {
  const auto state = ReadCheckpointState(model_dir);
  if (!state) {
    const std::string path = JoinPath(model_dir, "checkpoint");
    if (!FileSystem::ForPath(path).Exists(path)) return std::nullopt;  // a new training
    const auto advice = AdviceForDamagedState(model_dir);
    if (!advice) return std::nullopt;
    throw DataLoss("{} is damaged and names no checkpoint; {}", path, *advice);
  }
  if (CheckpointExists(state->latest)) return state->latest;
  // Those of the directory, which may have been moved here under other names than the file's.
  std::optional<std::string> advice = AdviceForDamagedState(model_dir);
  if (!advice && std::ranges::any_of(state->all, CheckpointExists))
    advice = AdviceForDamagedCheckpoint(state->latest);
  if (!advice) return std::nullopt;
  throw DataLoss("the newest checkpoint {} is missing; {}", state->latest, *advice);
}

int64_t StepOfCheckpoint(const std::string& prefix) try {
  const TensorBundleReader reader(prefix);
  return reader.Contains(train::kGlobalStep) ? reader.Read(train::kGlobalStep).scalar<int64_t>()
                                             : 0;
} catch (const Error& e) {
  throw DataLoss("{} is damaged: {}; {}", prefix, e.message(), AdviceForDamagedCheckpoint(prefix));
}

void RestoreVariables(Session& session, Graph& graph, const std::string& checkpoint) {
  LogInfo("Restoring parameters from {}", checkpoint);
  Saver(graph, {.leave_out = {train::RunState::kVariable}}).Restore(session, checkpoint);
}

}  // namespace sextant
