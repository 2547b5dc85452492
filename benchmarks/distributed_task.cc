// sextant-distributed-task: one process of the clusters that sextant-distributed-bench starts, or
// the only one. A program as users write them: it knows nothing of clusters.
//
// The chief prints "rate R": global steps per second after the first third of its steps.
#include "benchmarks/distributed_task.h"

#include <fmt/format.h>
#include <sched.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <random>
#include <vector>

#include "benchmarks/census_input.h"
#include "benchmarks/program_main.h"
#include "sextant/base/logging.h"
#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

// Looks at the clock and the global step now and then.
class Rate : public train::Hook {
 public:
  Rate(int64_t every, bool prints) : every_(every), prints_(prints) {}

  void AfterRun(train::RunContext& run) override {
    if (++runs_ % every_ == 0) looks_.push_back({Clock::now(), run.global_step()});
  }
  void End(Session&) override {
    const size_t first = looks_.size() / 3;
    if (!prints_ || looks_.size() < first + 2) return;
    const std::chrono::duration<double> time = looks_.back().time - looks_[first].time;
    fmt::print("rate {:.6g}\n",
               static_cast<double>(looks_.back().step - looks_[first].step) / time.count());
    std::fflush(stdout);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Look {
    Clock::time_point time;
    int64_t step = 0;
  };
  const int64_t every_;
  const bool prints_;
  int64_t runs_ = 0;
  std::vector<Look> looks_;
};

// Random images or vectors and labels, the same batches over and over.
Input RandomInput(const Shape& example, int64_t count, int64_t batch) {
  std::mt19937 random(1);
  std::vector<int64_t> dims = {count};
  for (const int64_t dim : example.dims()) dims.push_back(dim);
  Tensor x(DType::kFloat, Shape(dims)), y(DType::kInt32, Shape{count});
  for (float& value : x.flat<float>()) value = static_cast<float>(random() % 256) / 256;
  for (int32_t& label : y.flat<int32_t>()) label = static_cast<int32_t>(random() % 10);
  return {data::FromTensorSlices({{"x", x}, {"label", y}}).Repeat().Batch(batch).Prefetch(4)};
}

EstimatorSpec Mlp(const ModelFnArgs& args) {
  Output h = args.features["x"];
  for (const int64_t units : {1600, 800}) h = Relu(layers::Dense(h, {.units = units}));
  const Output logits = layers::Dense(h, {.units = 10});
  EstimatorSpec spec{.mode = args.mode, .predictions = {{"logits", logits}}};
  if (args.mode == Mode::kPredict) return spec;
  spec.loss = losses::SparseSoftmaxCrossEntropy(args.labels["label"], logits);
  if (args.mode != Mode::kTrain) return spec;
  spec.train_op = train::GradientDescent({.learning_rate = 0.01f})
                      .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  return spec;
}

EstimatorSpec Resnet44(const ModelFnArgs& args) {
  const bool training = args.mode == Mode::kTrain;
  const Output logits = models::ResnetCifarLogits(args.features["x"], {}, training);
  EstimatorSpec spec{.mode = args.mode, .predictions = {{"logits", logits}}};
  if (args.mode == Mode::kPredict) return spec;
  spec.loss = models::ResnetCifarLoss(logits, args.labels["label"],
                                      CollectedVariables(kTrainableVariables), 2e-4f);
  if (!training) return spec;
  std::vector<Operation> steps = {
      train::Momentum({.learning_rate = 0.01, .momentum = 0.9})
          .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()})};
  for (const Output& update : CurrentGraph().Collection(kUpdateOps))
    steps.emplace_back(update.node());
  spec.train_op = Group(steps);
  return spec;
}

void StayOn(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<size_t>(core), &cores);
  if (sched_setaffinity(0, sizeof(cores), &cores) != 0)
    throw InvalidArgument("there is no core {} to stay on", core);
}

void Run(const DistributedTask& task) {
  if (task.core >= 0) StayOn(task.core);
  SetLogLevel(LogLevel::kWarning);
  RunConfig config;
  config.model_dir = task.model_dir;
  config.random_seed = 1;
  config.save_checkpoints_secs = 100000;
  config.save_summary_steps = 0;
  config.log_step_count_steps = 1'000'000;
  config.session.threads = task.threads;
  config.cluster.sync = task.sync;
  InputFn input;
  ModelFn model;
  HParams params;
  if (task.model == "mlp") {
    input = [&] { return RandomInput(Shape{784}, 2000, task.batch); };
    model = Mlp;
  } else if (task.model == "resnet44") {
    input = [&] { return RandomInput(Shape{32, 32, 3}, 4 * task.batch, task.batch); };
    model = Resnet44;
  } else if (task.model == "census") {
    input = [&] { return CensusInput(task.csv, task.batch, true, "line"); };
    const models::RegisteredModel& registered = models::FindModel("wide_deep");
    params = models::DefaultParams(registered);
    model = registered.model_fn(params);
  } else {
    throw InvalidArgument("no model {}: mlp, census or resnet44", task.model);
  }
  const Estimator estimator(model, config, params);
  const auto rate = std::make_shared<Rate>(task.look_every, estimator.config().task.is_chief);
  TrainAndEvaluate(estimator, {.input_fn = input, .max_steps = task.steps, .hooks = {rate}},
                   {.input_fn = input, .steps = 1, .throttle_secs = 100000});
}

int Main(int argc, char** argv) {
  CLI::App app("One process of a cluster that is measured.");
  DistributedTask task;
  app.add_option("--model", task.model)->required();
  app.add_option("--batch", task.batch);
  app.add_option("--steps", task.steps);
  app.add_option("--threads", task.threads);
  app.add_flag("--sync", task.sync);
  app.add_option("--core", task.core);
  app.add_option("--look-every", task.look_every);
  app.add_option("--model-dir", task.model_dir)->required();
  app.add_option("--csv", task.csv);
  CLI11_PARSE(app, argc, argv);
  Run(task);
  return 0;
}

}  // namespace
}  // namespace sextant::bench

int main(int argc, char** argv) {
  return sextant::bench::RunProgram("sextant-distributed-task", sextant::bench::Main, argc, argv);
}
