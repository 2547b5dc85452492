#include "cifar10_towers/cifar10.h"

#include "cifar10_towers/cifar10_input.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

using sx::summaries::Tag;

void ActivationSummary(sx::Output x) {
  const std::string name = WithoutTower(x.node()->name());
  sx::summaries::Histogram(Tag{name + "/activations"}, x);
  sx::summaries::Scalar(Tag{name + "/sparsity"}, sx::ZeroFraction(x));
}

sx::Variable VariableOnCpu(const char* name, const sx::Shape& shape, sx::Initializer initializer) {
  const sx::DeviceScope cpu("/cpu:0");
  return sx::GetVariable(name, {.shape = shape, .initializer = std::move(initializer)});
}

sx::Variable VariableWithWeightDecay(const char* name, const sx::Shape& shape, double stddev,
                                     float decay) {
  const sx::Variable variable =
      VariableOnCpu(name, shape, sx::initializers::TruncatedNormal(0, stddev));
  if (decay != 0) {
    const sx::Output loss = sx::Identity(decay * sx::L2Loss(variable), "weight_loss");
    sx::CurrentGraph().AddToCollection(kLosses, loss);
  }
  return variable;
}

sx::Output Convolution(const char* name, sx::Output x, const sx::Shape& shape, double bias) {
  const sx::VariableScope scope(name);
  const sx::Variable kernel = VariableWithWeightDecay("weights", shape, 1e-4, 0);
  const sx::Output conv = sx::Conv2D(x, kernel, {.padding = "SAME"});
  const sx::Variable biases = VariableOnCpu("biases", {shape[3]}, sx::initializers::Constant(bias));
  const sx::Output y = sx::Identity(sx::Relu(sx::BiasAdd(conv, biases)), name);
  ActivationSummary(y);
  return y;
}

sx::Output LocallyConnected(const char* name, sx::Output x, int64_t units) {
  const sx::VariableScope scope(name);
  const sx::Variable weights =
      VariableWithWeightDecay("weights", {x.shape()[1], units}, 0.04, 0.004f);
  const sx::Variable biases = VariableOnCpu("biases", {units}, sx::initializers::Constant(0.1));
  const sx::Output y = sx::Identity(sx::Relu(sx::MatMul(x, weights) + biases), name);
  ActivationSummary(y);
  return y;
}

sx::Output Pool(const char* name, sx::Output x) {
  const sx::NameScope scope(name);
  return sx::MaxPool(x, {.ksize = {1, 3, 3, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"});
}

sx::Output Norm(const char* name, sx::Output x) {
  const sx::NameScope scope(name);
  return sx::LRN(x, {.depth_radius = 4, .bias = 1, .alpha = 0.001f / 9, .beta = 0.75f});
}

}  // namespace

std::string WithoutTower(const std::string& name) {
  const std::string tower = std::string(kTowerName) + "_";
  std::string rest = name;
  for (size_t begin = rest.find(tower); begin != std::string::npos; begin = rest.find(tower)) {
    const size_t end = rest.find_first_not_of("0123456789", begin + tower.size());
    rest.erase(begin, end == std::string::npos ? end : end - begin);
  }
  return rest;
}

sx::Output Inference(sx::Output images) {
  const sx::Output conv1 = Convolution("conv1", images, {5, 5, 3, 64}, 0);
  const sx::Output norm1 = Norm("norm1", Pool("pool1", conv1));
  const sx::Output conv2 = Convolution("conv2", norm1, {5, 5, 64, 64}, 0.1);
  const sx::Output pool2 = Pool("pool2", Norm("norm2", conv2));
  const sx::Output local3 = LocallyConnected("local3", sx::layers::Flatten(pool2), 384);
  const sx::Output local4 = LocallyConnected("local4", local3, 192);
  const sx::VariableScope scope("softmax_linear");
  const sx::Variable weights = VariableWithWeightDecay("weights", {192, kClasses}, 1 / 192.0, 0);
  const sx::Variable biases = VariableOnCpu("biases", {kClasses}, sx::initializers::Constant(0));
  const sx::Output logits = sx::Identity(sx::MatMul(local4, weights) + biases, "softmax_linear");
  ActivationSummary(logits);
  return logits;
}

sx::Output Loss(sx::Output logits, sx::Output labels) {
  const sx::Output losses = sx::SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss;
  sx::Graph& graph = sx::CurrentGraph();
  graph.AddToCollection(kLosses, sx::Identity(sx::Mean(losses, 0), "cross_entropy"));
  return sx::Identity(sx::AddN(graph.Collection(kLosses)), "total_loss");
}

sx::Output LearningRate(const sx::Variable& global_step, int64_t batch_size) {
  const double batches = static_cast<double>(kTrainImages) / static_cast<double>(batch_size);
  const auto steps = static_cast<int64_t>(batches * kEpochsPerDecay);
  return sx::train::ExponentialDecay({.learning_rate = kInitialLearningRate,
                                      .decay_steps = static_cast<float>(steps),
                                      .decay_rate = kLearningRateDecayFactor,
                                      .staircase = true})
      .Build(global_step);
}

sx::Operation AddLossSummaries(std::vector<sx::Output> losses, sx::Output total,
                               const std::string& raw) {
  losses.push_back(total);
  sx::train::MovingAverage averages({.decay = 0.9f, .name = "avg"});
  const sx::Operation move = averages.ApplyToTensors(losses);
  for (const sx::Output& loss : losses) {
    const std::string name = WithoutTower(loss.node()->name());
    sx::summaries::Scalar(Tag{name + raw}, loss);
    sx::summaries::Scalar(Tag{name}, averages.Average(loss));
  }
  return move;
}

Update ApplyGradients(const std::vector<sx::train::GradientAndVariable>& gradients,
                      const sx::train::Optimizer& optimizer, sx::Output rate,
                      const sx::Variable& global_step) {
  Update update;
  update.summaries.push_back(sx::summaries::Scalar(Tag{"learning_rate"}, rate));
  for (const auto& [gradient, variable] : gradients) {
    update.summaries.push_back(
        sx::summaries::Histogram(Tag{variable.name() + "/gradients"}, gradient));
  }
  const sx::Operation apply = optimizer.ApplyGradients(gradients, global_step);
  const std::vector<sx::Variable> variables = sx::CollectedVariables(sx::kTrainableVariables);
  for (const sx::Variable& variable : variables) {
    update.summaries.push_back(sx::summaries::Histogram(Tag{variable.name()}, variable));
  }
  sx::train::MovingAverage averages({.decay = kMovingAverageDecay, .num_updates = global_step});
  const sx::ControlDependencies after({apply});
  update.train = sx::Group({apply, averages.Apply(variables)}, "train");
  return update;
}

}  // namespace cifar10
