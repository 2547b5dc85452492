// The optimizers. Defaults, slots and names are those of tf.compat.v1.train.
#pragma once

#include "sextant/base/export.h"
#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::train {

struct SEXTANT_API GradientDescentOptions {
  LearningRate learning_rate = 0.01;
  std::string name = "GradientDescent";
};
Optimizer GradientDescent(const GradientDescentOptions& options);

struct SEXTANT_API MomentumOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0.9;
  bool use_nesterov = false;
  std::string name = "Momentum";
};
Optimizer Momentum(const MomentumOptions& options);

struct SEXTANT_API AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::string name = "Adam";
};
Optimizer Adam(const AdamOptions& options = {});

struct SEXTANT_API AdamWOptions {
  LearningRate learning_rate = 0.001;
  double weight_decay = 1e-4;  // var -= learning_rate * weight_decay * var, beside Adam's step
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // Which variables decay; default: all.
  std::function<bool(const Variable&)> decays = {};
  std::string name = "AdamW";
};
Optimizer AdamW(const AdamWOptions& options = {});

struct SEXTANT_API AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  std::string name = "Adagrad";
};
Optimizer Adagrad(const AdagradOptions& options = {});

struct SEXTANT_API AdagradDAOptions {
  LearningRate learning_rate = 0.001;
  double initial_gradient_squared_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  std::string name = "AdagradDA";
};
// Needs a global step.
Optimizer AdagradDA(const AdagradDAOptions& options = {});

struct SEXTANT_API AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-8;
  std::string name = "Adadelta";
};
Optimizer Adadelta(const AdadeltaOptions& options = {});

struct SEXTANT_API RmsPropOptions {
  LearningRate learning_rate = 0.001;
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
  bool centered = false;
  std::string name = "RMSProp";
};
Optimizer RmsProp(const RmsPropOptions& options = {});

struct SEXTANT_API FtrlOptions {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  double l2_shrinkage_regularization_strength = 0;
  double beta = 0;  // adds beta / (2 * learning_rate) to the l2 strength
  std::string name = "Ftrl";
};
Optimizer Ftrl(const FtrlOptions& options = {});

struct SEXTANT_API ProximalAdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  std::string name = "ProximalAdagrad";
};
Optimizer ProximalAdagrad(const ProximalAdagradOptions& options = {});

struct SEXTANT_API ProximalGradientDescentOptions {
  LearningRate learning_rate = 0.001;
  double l1_regularization_strength = 0;
  double l2_regularization_strength = 0;
  std::string name = "ProximalGradientDescent";
};
Optimizer ProximalGradientDescent(const ProximalGradientDescentOptions& options = {});

}  // namespace sextant::train

#pragma GCC visibility pop
