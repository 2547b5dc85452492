#include "cifar10_estimator/cifar10_model.h"

#include <fmt/format.h>

#include "cifar10_estimator/cifar10.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

using sx::summaries::Tag;
using GradientsOfTower = std::vector<sx::train::GradientAndVariable>;

struct Tower {
  sx::Output labels, loss, classes, probabilities;
  GradientsOfTower gradients;
  std::vector<sx::Operation> updates;  // of the running statistics
};

float Number(const sx::HParams& params, const char* name) {
  return static_cast<float>(params.Get<double>(name));
}

// Variables on the CPU, or on the towers' devices by bytes; all else on the tower's own.
sx::DeviceFunction DevicesOf(const sx::HParams& params, int64_t tower) {
  const auto type = params.Get<std::string>("tower_device");
  const auto towers = static_cast<int>(params.Get<int64_t>("num_towers"));
  sx::train::LocalDeviceOptions options{.worker_device = fmt::format("/{}:{}", type, tower)};
  if (params.Get<std::string>("variable_strategy") == "GPU") {
    options.ps_device_type = type;
    options.ps_strategy = sx::train::GreedyLoadBalancing(towers);
  }
  return sx::train::LocalDeviceSetter(options);
}

// Every n-th row of the batch, from row i on.
sx::Output Shard(sx::Output batch, int64_t i, int64_t n) {
  return n == 1 ? batch : sx::StridedSlice(batch, {sx::SliceRange(i, std::nullopt, n)});
}

Tower TowerFn(const sx::ModelFnArgs& args, const std::string& name_scope, sx::Output images,
              sx::Output labels) {
  const sx::HParams& params = args.params;
  const bool training = args.mode == sx::Mode::kTrain;
  const sx::Output logits = sx::models::ResnetCifarLogits(
      images,
      {.units_per_stage = sx::models::UnitsPerStage(params.Get<int64_t>("num_layers")),
       .batch_norm_decay = Number(params, "batch_norm_decay"),
       .batch_norm_epsilon = Number(params, "batch_norm_epsilon"),
       .data_format = params.Get<std::string>("data_format") == "channels_first" ? "NCHW" : "NHWC",
       .scale_pixels = !params.Get<bool>("crop_24"),
       .log_shapes = true},
      training);
  Tower tower{
      .labels = labels, .classes = sx::ArgMax(logits, 1), .probabilities = sx::Softmax(logits)};
  if (args.mode == sx::Mode::kPredict) return tower;
  const std::vector<sx::Variable> variables = sx::CollectedVariables(sx::kTrainableVariables);
  tower.loss =
      sx::models::ResnetCifarLoss(logits, labels, variables, Number(params, "weight_decay"));
  if (!training) return tower;
  std::vector<sx::Output> handles;
  for (const sx::Variable& variable : variables) handles.push_back(variable.handle());
  const std::vector<sx::Gradient> gradients = sx::Gradients(tower.loss, handles);
  for (size_t i = 0; i < variables.size(); ++i) {
    tower.gradients.push_back({gradients[i], variables[i]});
  }
  for (const sx::Output& update : sx::CurrentGraph().Collection(sx::kUpdateOps, name_scope)) {
    tower.updates.emplace_back(update);
  }
  return tower;
}

std::vector<Tower> BuildTowers(const sx::ModelFnArgs& args) {
  const sx::Output images = args.features["image"];
  const auto count = args.params.Get<int64_t>("num_towers");
  std::vector<Tower> towers;
  for (int64_t i = 0; i < count; ++i) {
    const sx::VariableScope resnet("resnet", i == 0 ? sx::Reuse::kInherit : sx::Reuse::kTrue);
    const sx::NameScope tower(fmt::format("resnet/tower_{}/", i));
    const sx::DeviceScope devices(DevicesOf(args.params, i));
    const sx::Output labels =
        args.labels.empty() ? sx::Output() : Shard(args.labels["label"], i, count);
    towers.push_back(TowerFn(args, tower.name(), Shard(images, i, count), labels));
  }
  return towers;
}

// The mean over the towers, each on the device of its variable; one tower's are as they are.
GradientsOfTower AverageGradients(const std::vector<Tower>& towers) {
  GradientsOfTower averages = towers[0].gradients;
  if (towers.size() == 1) return averages;
  const sx::NameScope scope("gradient_averaging");
  for (size_t i = 0; i < averages.size(); ++i) {
    const sx::DeviceScope beside(averages[i].variable.handle().node()->device());
    std::vector<sx::Output> gradients;
    for (const Tower& tower : towers) gradients.push_back(tower.gradients[i].gradient);
    averages[i].gradient = sx::AddN(gradients) * (1.0 / static_cast<double>(towers.size()));
  }
  return averages;
}

template <typename Member>
sx::Output Joined(const std::vector<Tower>& towers, Member member) {
  std::vector<sx::Output> values;
  for (const Tower& tower : towers) values.push_back(tower.*member);
  return values.size() == 1 ? values[0] : sx::Concat(values, 0);
}

sx::train::Optimizer Synchronous(const sx::ModelFnArgs& args,
                                 const sx::train::Optimizer& optimizer) {
  const auto replicas = static_cast<int>(args.params.Get<int64_t>("num_workers"));
  return sx::train::SyncReplicas(
      optimizer, {.replicas_to_aggregate = replicas, .total_num_replicas = replicas});
}

// One update by the averages of the gradients; tower 0's running statistics with it.
void AddTraining(const sx::ModelFnArgs& args, const std::vector<Tower>& towers,
                 sx::EstimatorSpec& spec) {
  const sx::HParams& params = args.params;
  const sx::Variable global_step = sx::train::GetOrCreateGlobalStep();
  const GradientsOfTower gradients = AverageGradients(towers);
  const sx::DeviceScope consolidation(params.Get<std::string>("variable_strategy") == "GPU"
                                          ? "/" + params.Get<std::string>("tower_device") + ":0"
                                          : "/cpu:0");
  const auto batch_size = params.Get<int64_t>("train_batch_size");
  const sx::Output rate =
      sx::models::ResnetCifarSchedule(Number(params, "learning_rate"), batch_size,
                                      params.Get<int64_t>("num_workers"))
          .Build(global_step);
  sx::summaries::Image(Tag{"images"}, args.features["image"]);
  sx::summaries::Scalar(Tag{"learning_rate"}, rate);
  for (const auto& [gradient, variable] : gradients) {
    sx::summaries::Histogram(Tag{variable.name() + "/gradients"}, gradient);
  }
  sx::train::Optimizer optimizer = sx::train::Momentum(
      {.learning_rate = sx::train::LearningRate([=](sx::Output) { return rate; }),
       .momentum = params.Get<double>("momentum")});
  if (params.Get<bool>("sync")) optimizer = Synchronous(args, optimizer);
  std::vector<sx::Operation> steps = towers[0].updates;
  steps.push_back(optimizer.ApplyGradients(gradients, global_step));
  spec.train_op = sx::Group(steps);
  spec.training_hooks = {
      sx::train::LogTensors({{"loss", spec.loss}, {"learning_rate", rate}}, {.steps = 100}),
      sx::train::ExamplesPerSecond(batch_size, {.steps = 10})};
}

}  // namespace

sx::EstimatorSpec ResnetModelFn(const sx::ModelFnArgs& args) {
  const std::vector<Tower> towers = BuildTowers(args);
  sx::EstimatorSpec spec{.mode = args.mode};
  {
    std::vector<std::string> names = kClassNames;
    names.push_back("none");  // there is one output more than classes
    const sx::Output classes = Joined(towers, &Tower::classes);
    spec.predictions = {
        {"classes", classes},
        {"probabilities", Joined(towers, &Tower::probabilities)},
        {"names", sx::Gather(sx::Const(sx::Tensor::FromVector(names), "class_names"), classes)}};
  }
  if (args.mode == sx::Mode::kPredict) return spec;
  std::vector<sx::Output> losses;
  for (const Tower& tower : towers) losses.push_back(tower.loss);
  spec.loss = sx::Mean(sx::Pack(losses), {0});
  if (args.mode == sx::Mode::kTrain) {
    AddTraining(args, towers, spec);
  } else if (args.params.Get<bool>("sync")) {
    Synchronous(args, sx::train::GradientDescent({.learning_rate = 0}));  // evaluations log it too
  }
  spec.eval_metrics = {{"accuracy", sx::metrics::Accuracy(Joined(towers, &Tower::labels),
                                                          Joined(towers, &Tower::classes))}};
  return spec;
}

}  // namespace cifar10
