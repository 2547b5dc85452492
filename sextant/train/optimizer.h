// Optimizer: turns gradients into updates of variables, with TensorFlow's slots and names.
//
//   Operation step = train::Adam({.learning_rate = 1e-4f}).Minimize(loss, {.global_step = step});
//
// An Optimizer is a small description and may be used for several graphs; slots are made in the
// graph in which it applies gradients, named "<variable>/<Slot>". In replicas of a model
// (graph/replica.h) ComputeGradients gives those of all replicas' losses together, and there is one
// update.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/output.h"
#include "sextant/ops/state/variable.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// A number, or a schedule: a function of the global step that builds the rate.
class SEXTANT_API LearningRate {
 public:
  LearningRate(double value) : value_(value) {}                  // NOLINT
  LearningRate(std::function<Output(Output global_step)> build)  // NOLINT
      : build_(std::move(build)) {}
  bool constant() const { return !build_; }
  double value() const { return value_; }
  // As a scalar of the current graph. A schedule without a global step is an INVALID_ARGUMENT.
  Output Build(Output global_step) const;

 private:
  double value_ = 0;
  std::function<Output(Output)> build_;
};

// A variable and its gradient: dense, rows of it, or none (the variable is left alone).
struct SEXTANT_API GradientAndVariable {
  Gradient gradient;  // dense, sparse or none
  Variable variable;  // what it is the gradient of
};

struct SEXTANT_API MinimizeOptions {
  std::vector<Variable> variables = {};  // default: the trainable ones
  Variable global_step = {};             // one more after every update
  // What to do to the gradients in between, e.g. clipping.
  std::function<std::vector<GradientAndVariable>(std::vector<GradientAndVariable>)> transform = {};
  std::string name = {};  // of the operation; default: the optimizer's
};

class OptimizerImpl;

class SEXTANT_API Optimizer {
 public:
  Optimizer() = default;
  explicit Optimizer(std::shared_ptr<const OptimizerImpl> impl) : impl_(std::move(impl)) {}
  explicit operator bool() const { return impl_ != nullptr; }

  // Gradients of the loss (without "variables", by all that are trainable), and the operation that
  // applies them; Minimize is both.
  std::vector<GradientAndVariable> ComputeGradients(
      Output loss, const std::vector<Variable>& variables = {}) const;
  Operation ApplyGradients(const std::vector<GradientAndVariable>& gradients,
                           const Variable& global_step = {}, std::string_view name = "") const;
  Operation Minimize(Output loss, const MinimizeOptions& options = {}) const;

  // "Adam"
  const std::string& name() const;
  // The keys of its slots ("m", "v" for Adam), and the slot of a variable: none before
  // ApplyGradients.
  std::vector<std::string> SlotKeys() const;
  Variable Slot(const Variable& variable, std::string_view key) const;
  const std::shared_ptr<const OptimizerImpl>& impl() const { return impl_; }

 private:
  std::shared_ptr<const OptimizerImpl> impl_;
};

}  // namespace sextant::train

#pragma GCC visibility pop
