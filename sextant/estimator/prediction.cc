#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"
#include "sextant/train/hooked_run.h"
#include "sextant/train/local_initializer.h"
#include "sextant/train/queue_runner.h"

namespace sextant {

struct Predictions::State {
  std::shared_ptr<Estimator::State> estimator;  // the graph was built with its parameters
  std::unique_ptr<ModelGraph> model;
  std::unique_ptr<Session> session;
  std::unique_ptr<train::HookedRun> run;
  std::unique_ptr<train::QueueThreads> queues;
  bool single_examples = true;
  std::vector<std::string> names;
  std::vector<Output> outputs;
  std::vector<Tensor> batch;
  int64_t row = 0, rows = 0;
  bool ended = false;
};

namespace {

std::string NamesOf(const NamedOutputs& outputs) {
  std::string names;
  for (const auto& [name, output] : outputs) names += (names.empty() ? "" : ", ") + name;
  return names;
}

void ChooseOutputs(const std::vector<std::string>& keys, Predictions::State* state) {
  const NamedOutputs& all = state->model->spec.predictions;
  for (const std::string& key : keys) {
    if (std::none_of(all.begin(), all.end(), [&](const auto& p) { return p.first == key; })) {
      throw NotFound("the model predicts no '{}', only {}", key, NamesOf(all));
    }
  }
  for (const auto& [name, output] : all) {
    if (!keys.empty() && std::find(keys.begin(), keys.end(), name) == keys.end()) continue;
    state->names.push_back(name);
    state->outputs.push_back(output);
  }
}

int64_t RowsOf(const Predictions::State& state) {
  int64_t rows = -1;
  for (size_t i = 0; i < state.batch.size(); ++i) {
    const Shape& shape = state.batch[i].shape();
    if (shape.rank() == 0 || (rows >= 0 && shape.dim(0) != rows)) {
      throw InvalidArgument(
          "prediction '{}' of shape {} has not one row for each example; ask for whole batches",
          state.names[i], shape.ToString());
    }
    rows = shape.dim(0);
  }
  return rows;
}

Tensor RowOf(const Tensor& batch, int64_t row) {
  const auto& dims = batch.shape().dims();
  return batch.Rows(row, row + 1)
      .Reshaped(Shape(std::vector<int64_t>(dims.begin() + 1, dims.end())));
}

}  // namespace

Predictions::Predictions(std::unique_ptr<State> state) : state_(std::move(state)) {}
Predictions::Predictions(Predictions&&) noexcept = default;
Predictions::~Predictions() = default;

bool Predictions::Next(data::Element* prediction) {
  State& s = *state_;
  while (s.row == s.rows) {
    if (s.ended || s.run->stop_requested()) return false;
    try {
      s.batch = s.run->Run(s.outputs);
    } catch (const Error& e) {
      s.queues->ThrowFailure();
      if (e.code() != Code::kOutOfRange) throw;
      s.ended = true;
      for (const train::HookRef& hook : s.run->hooks()) hook->End(*s.session);
      return false;
    }
    s.rows = s.single_examples ? RowsOf(s) : 1;
    s.row = 0;
  }
  data::Element result;
  for (size_t i = 0; i < s.names.size(); ++i) {
    result.Set(s.names[i], s.single_examples ? RowOf(s.batch[i], s.row) : s.batch[i]);
  }
  ++s.row;
  *prediction = std::move(result);
  return true;
}

Predictions Estimator::Predict(const InputFn& input_fn, const PredictOptions& options) {
  auto state = std::make_unique<Predictions::State>();
  const std::string checkpoint = CheckpointOf(*state_, options.checkpoint_path);
  state->estimator = state_;
  state->single_examples = options.single_examples;
  state->model = BuildModel(*state_, input_fn, Mode::kPredict);
  ChooseOutputs(options.keys, state.get());
  const GraphScope use(state->model->graph);
  std::vector<train::HookRef> hooks = options.hooks;
  const auto& own = state->model->spec.prediction_hooks;
  hooks.insert(hooks.end(), own.begin(), own.end());
  for (const train::HookRef& hook : hooks) hook->Begin();
  const Operation local_init = train::LocalInitializer(state->model->graph);
  state->session = std::make_unique<Session>(state->model->graph, state->model->session);
  RestoreVariables(*state->session, state->model->graph, checkpoint);
  state->session->Run(local_init);
  if (state->model->begin_input) state->session->Run(state->model->begin_input);
  state->run =
      std::make_unique<train::HookedRun>(*state->session, hooks, state_->config.cancellation.get());
  state->queues = std::make_unique<train::QueueThreads>(*state->session);  // no nodes from here on
  for (const train::HookRef& hook : hooks) hook->AfterCreateSession(*state->session);
  return Predictions(std::move(state));
}

}  // namespace sextant
