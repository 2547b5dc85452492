// MovingAverage: exponential moving averages of variables (shadow variables), for evaluation.
//
//   MovingAverage average({.decay = 0.9999f, .num_updates = global_step});
//   Operation train = Group({step, average.Apply(CollectedVariables(kTrainableVariables))});
//
// The shadow of "w" is "w/ExponentialMovingAverage", as in TensorFlow.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/ops/state/variable.h"

#pragma GCC visibility push(default)

namespace sextant::train {

struct SEXTANT_API MovingAverageOptions {
  float decay = 0.999f;
  Variable num_updates = {};  // decay = min(decay, (1 + updates) / (10 + updates))
  bool zero_debias = false;   // divide by 1 - decay^t; for shadows that begin at zero
  std::string name = "ExponentialMovingAverage";
};

class SEXTANT_API MovingAverage {
 public:
  explicit MovingAverage(MovingAverageOptions options) : options_(std::move(options)) {}

  // shadow -= (1 - decay) * (shadow - variable) for all of them. Makes the shadows at the first
  // call; they begin with the variables' initial values.
  Operation Apply(const std::vector<Variable>& variables);
  // None before Apply.
  Variable Average(const Variable& variable) const;
  std::string AverageName(const Variable& variable) const;
  // What a Saver restores into each variable to evaluate with the averages: name in the checkpoint
  // → variable.
  std::map<std::string, Variable> VariablesToRestore(const std::vector<Variable>& variables) const;

 private:
  const MovingAverageOptions options_;
  std::map<std::string, Variable> shadows_;
};

}  // namespace sextant::train

#pragma GCC visibility pop
