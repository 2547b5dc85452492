// replica-training: the program of the cluster scenarios about bits. It trains an MLP or a
// ResNet-20 on made-up images, as a task of a synchronous cluster, or as one process on several
// devices; both have to come to the same variables.
//
//   replica-training --model_dir DIR --model mlp --sync --deterministic   as a task of TF_CONFIG's
//                                                                         cluster
//   replica-training --model_dir DIR --model mlp --devices 2              alone, mirrored
//   replica-training --model_dir DIR --compare OTHER [--all]              a line of JSON
//
// --dropout and --shuffle make it draw random numbers, of which each task has its own.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <iostream>

#include "sextant/base/interrupt.h"
#include "training_program.h"

namespace {

using namespace sextant;                     // NOLINT(google-build-using-namespace): a program
using namespace sextant::cluster_scenarios;  // NOLINT(google-build-using-namespace)

constexpr int64_t kImages = 60, kSide = 8, kClasses = 10;

// A number in [0, 1) for each i, without a pattern.
float Noise(int64_t i) {
  const double x = std::sin(static_cast<double>(i) * 78.233) * 43758.5453;
  return static_cast<float>(x - std::floor(x));
}

data::Dataset Images() {
  Tensor images(DType::kFloat, {kImages, kSide, kSide, 3}), labels(DType::kInt32, {kImages});
  for (int64_t i = 0; i < images.num_elements(); ++i) images.data<float>()[i] = 255 * Noise(i);
  for (int64_t i = 0; i < kImages; ++i)
    labels.data<int32_t>()[i] = static_cast<int32_t>(i * 7 % kClasses);
  return data::FromTensorSlices({{"image", images}, {"label", labels}});
}

// Batches in one order, of which task k of n takes every n-th, beginning with the k-th: as the
// devices of one process do. They do not end at the end of the images, so that all are different.
Input TrainInput(const Arguments& flags, const dist::Task& task) {
  data::Dataset images = Images();
  if (flags.Has("--shuffle")) images = images.Shuffle(kImages / 2, {.seed = 3});
  const data::Dataset batches = images.Repeat().Batch(flags.Number("--batch", 7));
  return {
      Paced(batches.Shard(task.num_replicas, task.rank.value_or(0)), flags.Number("--step_ms", 0)),
      {"label"}};
}

Output MlpLogits(Output images, const Arguments& flags, bool training) {
  Output x = Reshape(images / 128.0 - 1.0, {-1, kSide * kSide * 3});
  for (const int64_t units : {48, 24}) {
    x = layers::Dense(x, {.units = units, .activation = Relu});
    if (flags.Has("--dropout")) x = layers::Dropout(x, {.rate = 0.3f, .training = training});
  }
  return layers::Dense(x, {.units = kClasses});
}

EstimatorSpec Model(const Arguments& flags, const ModelFnArgs& args) {
  const bool training = args.mode == Mode::kTrain, resnet = flags.Text("--model") == "resnet";
  const Output images = args.features["image"];
  const Output logits =
      resnet ? models::ResnetCifarLogits(
                   images, {.units_per_stage = models::UnitsPerStage(20), .classes = kClasses},
                   training)
             : MlpLogits(images, flags, training);
  EstimatorSpec spec{.predictions = {{"logits", logits}}};
  spec.loss = models::ResnetCifarLoss(logits, args.labels["label"], TrainableVariables(), 2e-4f);
  if (!training) return spec;
  const train::Optimizer optimizer =
      resnet ? train::Momentum({.learning_rate = 0.01f, .momentum = 0.9f})
             : train::Adam({.learning_rate = 0.003f});
  spec.train_op = optimizer.Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  return spec;
}

// Whether optimizers change it, or it is the step: moving averages are of each replica by itself.
bool IsOfTheOptimizer(const std::string& name) {
  return name != "sextant/run_state" && name.find("moving_") == std::string::npos;
}

// {"step": 50, "variables": 70, "different": 0, "most": 0}: variables, slots and the step of the
// two newest checkpoints, "all" with moving averages; how many have other bits, and by how much at
// most.
int Compare(const Estimator& ours, const Estimator& theirs, bool all) {
  int64_t variables = 0, different = 0;
  double most = 0;
  if (ours.VariableNames() != theirs.VariableNames()) {
    fmt::print(stderr, "the checkpoints have other variables: {} and {}\n",
               fmt::join(ours.VariableNames(), ", "), fmt::join(theirs.VariableNames(), ", "));
    return 1;
  }
  for (const std::string& name : ours.VariableNames()) {
    if (all ? name == "sextant/run_state" : !IsOfTheOptimizer(name)) continue;
    ++variables;
    const Tensor a = ours.VariableValue(name), b = theirs.VariableValue(name);
    if (a.Identical(b)) continue;
    ++different;
    if (a.dtype() != DType::kFloat || a.shape() != b.shape()) return 1;
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      const double difference = std::abs(a.data<float>()[i] - b.data<float>()[i]);
      most = std::isnan(difference) ? INFINITY : std::max(most, difference);
    }
  }
  std::cout << fmt::format(
      "{{\"step\": {}, \"variables\": {}, \"different\": {}, \"most\": {:g}}}\n",
      ours.VariableValue("global_step").AsInt64(), variables, different, most);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments flags(argc, argv);
  if (!flags.Has("--model_dir")) {
    fmt::print(stderr,
               "usage: replica-training --model_dir DIR [--max_steps N] [--compare DIR] …\n");
    return 2;
  }
  const ModelFn model_fn = [&](const ModelFnArgs& args) { return Model(flags, args); };
  if (flags.Has("--compare")) {
    const auto in = [&](const std::string& model_dir) {
      return Estimator(model_fn, {.model_dir = model_dir, .tf_config = "{}"});
    };
    return Compare(in(flags.Text("--model_dir")), in(flags.Text("--compare")), flags.Has("--all"));
  }
  const InterruptScope signals;
  RunConfig config = ConfigOf(flags);
  config.cancellation = signals.token();
  if (const int64_t devices = flags.Number("--devices", 0); devices > 0) {
    config.train_distribute = MirroredStrategy{.reduction = "one_device"};
    for (int64_t i = 0; i < devices; ++i)
      config.train_distribute->devices.push_back(fmt::format("/cpu:{}", i));
  }
  const Estimator estimator(model_fn, config);
  const InputFn input = [&] { return TrainInput(flags, estimator.config().task); };
  const InputFn eval = [] { return Input(Images().Batch(kImages), {"label"}); };
  TrainAsTask(estimator, flags, input, eval);
  return 0;
}
