// MovingAverage: exponential moving averages (shadow variables) of variables, for evaluation, and
// of tensors, for smooth curves.
//
//   MovingAverage average({.decay = 0.9999f, .num_updates = global_step});
//   Operation train = Group({step, average.Apply(CollectedVariables(kTrainableVariables))});
//
// and in the graph that evaluates, where nothing is averaged:
//
//   Saver saver(graph, {.variables = MovingAverage({}).VariablesToRestore()});
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

// The variables that are averaged, beside the trainable ones: Apply puts them here.
inline constexpr const char* kMovingAverageVariables = "moving_average_variables";

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
  // The same of tensors, whose shadows begin at zero. The shadow of a tensor is named by the node
  // that makes it: "tower_0/loss/avg". Throws INVALID_ARGUMENT when a shape is not known or the
  // type no floating one. Replicas (graph/replica.h) average the mean of their tensors.
  Operation ApplyToTensors(const std::vector<Output>& tensors);
  // None before Apply.
  Variable Average(const Variable& variable) const { return Find(variable.name()); }
  Variable Average(Output tensor) const;
  std::string AverageName(const Variable& variable) const { return AverageName(variable.name()); }
  // What a Saver restores to evaluate with the averages: name in the checkpoint → variable, for all
  // global variables of the current graph. Those that are averaged, by default the trainable ones
  // and kMovingAverageVariables, go by the names of their averages. Needs no Apply.
  std::map<std::string, Variable> VariablesToRestore() const;
  std::map<std::string, Variable> VariablesToRestore(const std::vector<Variable>& averaged) const;

 private:
  struct Source;  // what is averaged
  Operation ApplyTo(const std::vector<Source>& sources);
  Variable Find(const std::string& name) const;
  std::string AverageName(const std::string& name) const { return name + "/" + options_.name; }

  const MovingAverageOptions options_;
  std::map<std::string, Variable> shadows_;  // by the name of what is averaged
};

}  // namespace sextant::train

#pragma GCC visibility pop
