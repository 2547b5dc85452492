// The CIFAR-10 network of the tower tutorial: two convolutions, two locally connected layers,
// softmax.
#pragma once

#include <string>

#include "sextant/sextant.h"

namespace cifar10 {

constexpr int64_t kClasses = 10;
constexpr float kMovingAverageDecay = 0.9999f;
constexpr double kEpochsPerDecay = 350;
constexpr float kLearningRateDecayFactor = 0.1f;
constexpr float kInitialLearningRate = 0.1f;
constexpr const char* kTowerName = "tower";
constexpr const char* kLosses = "losses";  // the collection of what makes up the loss

// Logits [batch, 10] of standardised images. Variables NAME/weights and NAME/biases on /cpu:0.
sextant::Output Inference(sextant::Output images);
// Mean cross entropy and weight decay; both are in kLosses.
sextant::Output Loss(sextant::Output logits, sextant::Output labels);

// The rate at the global step: a tenth less every 350 epochs.
sextant::Output LearningRate(const sextant::Variable& global_step, int64_t batch_size);
// Moves the averages of the losses and the total, and adds summaries of both; `raw` is put behind
// the tags of the former.
sextant::Operation AddLossSummaries(std::vector<sextant::Output> losses, sextant::Output total,
                                    const std::string& raw);
// One update of all variables by these gradients, and then of their averages; with summaries, which
// are returned too.
struct Update {
  sextant::Operation train;
  std::vector<sextant::Output> summaries;
};
Update ApplyGradients(const std::vector<sextant::train::GradientAndVariable>& gradients,
                      const sextant::train::Optimizer& optimizer, sextant::Output rate,
                      const sextant::Variable& global_step);

// Without "tower_0", so that TensorBoard shows the towers as one model.
std::string WithoutTower(const std::string& name);

}  // namespace cifar10
