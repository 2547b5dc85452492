// The optimizers. Defaults, slots and names are those of tf.compat.v1.train.
#pragma once

#include "sextant/train/optimizer.h"

namespace sextant::train {

struct GradientDescentOptions {
  LearningRate learning_rate = 0.01f;
  std::string name = "GradientDescent";
};
Optimizer GradientDescent(const GradientDescentOptions& options);

struct MomentumOptions {
  LearningRate learning_rate = 0.01f;
  float momentum = 0.9f;
  bool use_nesterov = false;
  std::string name = "Momentum";
};
Optimizer Momentum(const MomentumOptions& options);

struct AdamOptions {
  LearningRate learning_rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  std::string name = "Adam";
};
Optimizer Adam(const AdamOptions& options = {});

struct AdamWOptions {
  LearningRate learning_rate = 0.001f;
  float weight_decay = 1e-4f;  // var -= learning_rate * weight_decay * var, beside Adam's step
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  // Which variables decay; default: all.
  std::function<bool(const Variable&)> decays = {};
  std::string name = "AdamW";
};
Optimizer AdamW(const AdamWOptions& options = {});

struct AdagradOptions {
  LearningRate learning_rate = 0.001f;
  float initial_accumulator_value = 0.1f;
  std::string name = "Adagrad";
};
Optimizer Adagrad(const AdagradOptions& options = {});

struct AdagradDAOptions {
  LearningRate learning_rate = 0.001f;
  float initial_gradient_squared_accumulator_value = 0.1f;
  float l1_regularization_strength = 0;
  float l2_regularization_strength = 0;
  std::string name = "AdagradDA";
};
// Needs a global step.
Optimizer AdagradDA(const AdagradDAOptions& options = {});

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001f;
  float rho = 0.95f;
  float epsilon = 1e-8f;
  std::string name = "Adadelta";
};
Optimizer Adadelta(const AdadeltaOptions& options = {});

struct RmsPropOptions {
  LearningRate learning_rate = 0.001f;
  float decay = 0.9f;
  float momentum = 0;
  float epsilon = 1e-10f;
  bool centered = false;
  std::string name = "RMSProp";
};
Optimizer RmsProp(const RmsPropOptions& options = {});

struct FtrlOptions {
  LearningRate learning_rate = 0.001f;
  float learning_rate_power = -0.5f;
  float initial_accumulator_value = 0.1f;
  float l1_regularization_strength = 0;
  float l2_regularization_strength = 0;
  float l2_shrinkage_regularization_strength = 0;
  float beta = 0;  // adds beta / (2 * learning_rate) to the l2 strength
  std::string name = "Ftrl";
};
Optimizer Ftrl(const FtrlOptions& options = {});

struct ProximalAdagradOptions {
  LearningRate learning_rate = 0.001f;
  float initial_accumulator_value = 0.1f;
  float l1_regularization_strength = 0;
  float l2_regularization_strength = 0;
  std::string name = "ProximalAdagrad";
};
Optimizer ProximalAdagrad(const ProximalAdagradOptions& options = {});

struct ProximalGradientDescentOptions {
  LearningRate learning_rate = 0.001f;
  float l1_regularization_strength = 0;
  float l2_regularization_strength = 0;
  std::string name = "ProximalGradientDescent";
};
Optimizer ProximalGradientDescent(const ProximalGradientDescentOptions& options = {});

}  // namespace sextant::train
