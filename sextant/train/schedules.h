// Learning rate schedules: functions of the global step, with TensorFlow's formulas. t is the step.
//
//   const auto rate = train::ExponentialDecay(
//       {.learning_rate = 0.1f, .decay_steps = 1000, .decay_rate = 0.96f});
//   train::Adam({.learning_rate = rate});
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::train {

struct SEXTANT_API ExponentialDecayOptions {
  float learning_rate = 0.1f;
  float decay_steps = 1000;
  float decay_rate = 0.96f;
  bool staircase = false;  // whole numbers of t / decay_steps only
};
// learning_rate * decay_rate ^ (t / decay_steps)
LearningRate ExponentialDecay(const ExponentialDecayOptions& options);
// learning_rate * e ^ (-decay_rate * t / decay_steps)
LearningRate NaturalExpDecay(const ExponentialDecayOptions& options);
// learning_rate / (1 + decay_rate * t / decay_steps)
LearningRate InverseTimeDecay(const ExponentialDecayOptions& options);

// values[i] while t <= boundaries[i], then the last one. One more value than boundaries.
LearningRate PiecewiseConstant(std::vector<int64_t> boundaries, std::vector<float> values);

struct SEXTANT_API PolynomialDecayOptions {
  float learning_rate = 0.1f;
  float decay_steps = 1000;
  float end_learning_rate = 1e-4f;
  float power = 1;
  bool cycle = false;  // decay again over a longer time instead of staying at the end
};
// (learning_rate - end) * (1 - min(t, decay_steps) / decay_steps) ^ power + end
LearningRate PolynomialDecay(const PolynomialDecayOptions& options);

struct SEXTANT_API CosineDecayOptions {
  float learning_rate = 0.1f;
  float decay_steps = 1000;
  float alpha = 0;  // share of the rate that is left at the end
};
LearningRate CosineDecay(const CosineDecayOptions& options);

struct SEXTANT_API CosineDecayRestartsOptions {
  float learning_rate = 0.1f;
  float first_decay_steps = 1000;
  float t_mul = 2;  // each period is so much longer
  float m_mul = 1;  // and begins so much lower
  float alpha = 0;
};
LearningRate CosineDecayRestarts(const CosineDecayRestartsOptions& options);

struct SEXTANT_API LinearCosineDecayOptions {
  float learning_rate = 0.1f;
  float decay_steps = 1000;
  float num_periods = 0.5f;
  float alpha = 0;
  float beta = 0.001f;
};
LearningRate LinearCosineDecay(const LinearCosineDecayOptions& options);

// Linear from 0 in the first "steps", then "after" (whose t goes on from 0).
LearningRate WarmUp(int64_t steps, LearningRate after);

}  // namespace sextant::train

#pragma GCC visibility pop
