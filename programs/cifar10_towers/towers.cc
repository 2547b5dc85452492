#include "cifar10_towers/towers.h"

#include <fmt/format.h>

#include "cifar10_towers/cifar10.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

// The loss of the tower whose nodes are in `scope`.
sx::Output TowerLoss(const std::string& scope, const Batch& batch) {
  Loss(Inference(batch.images), batch.labels);
  const std::vector<sx::Output> losses = sx::CurrentGraph().Collection(kLosses, scope);
  const sx::Output total = sx::Identity(sx::AddN(losses), "total_loss");
  const sx::ControlDependencies after({AddLossSummaries(losses, total, "(raw)")});
  return sx::Identity(total);
}

}  // namespace

std::vector<sx::train::GradientAndVariable> AverageGradients(
    const std::vector<std::vector<sx::train::GradientAndVariable>>& towers) {
  std::vector<sx::train::GradientAndVariable> averages = towers.at(0);
  for (size_t i = 0; i < averages.size(); ++i) {
    std::vector<sx::Output> gradients;  // of one variable, a row for each tower
    for (const auto& tower : towers) gradients.push_back(sx::ExpandDims(tower[i].gradient, 0));
    averages[i].gradient = sx::Mean(sx::Concat(gradients, 0), 0);
  }
  return averages;
}

Towers BuildTowers(const TowersOptions& options, const std::function<Batch()>& input) {
  const sx::DeviceScope cpu("/cpu:0");
  const sx::Variable global_step = sx::train::GetOrCreateGlobalStep();
  const sx::Output rate = LearningRate(global_step, options.batch_size);
  const sx::train::Optimizer optimizer = sx::train::GradientDescent(
      {.learning_rate = sx::train::LearningRate([=](sx::Output) { return rate; })});
  Towers towers;
  std::vector<sx::Output> summaries;
  std::vector<std::vector<sx::train::GradientAndVariable>> gradients;
  for (int64_t i = 0; i < options.num_towers; ++i) {
    const sx::VariableScope shared("", i == 0 ? sx::Reuse::kInherit : sx::Reuse::kTrue);
    const sx::DeviceScope device(fmt::format("/{}:{}", options.device, i));
    const sx::NameScope scope(fmt::format("{}_{}", kTowerName, i));
    towers.loss = TowerLoss(scope.name(), input());
    summaries = sx::CurrentGraph().Collection(sx::kSummaries, scope.name());
    gradients.push_back(optimizer.ComputeGradients(towers.loss));
  }
  const Update update = ApplyGradients(AverageGradients(gradients), optimizer, rate, global_step);
  towers.train = update.train;
  summaries.insert(summaries.end(), update.summaries.begin(), update.summaries.end());
  towers.summaries = sx::MergeSummary(summaries);
  return towers;
}

}  // namespace cifar10
