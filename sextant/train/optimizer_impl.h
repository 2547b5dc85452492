// OptimizerImpl: the update rule of one kind of optimizer, for most of them per variable. Optimizer
// (optimizer.h) does the rest.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/nn/initializers.h"
#include "sextant/train/optimizer.h"

namespace sextant::train {

// One call of ApplyGradients: where slots and the shared scalars of an update come from. It holds
// nodes of the graph that it is used in: a branch needs one of its own, with the "graph" outside,
// of whose scalars it makes use.
class UpdateContext {
 public:
  UpdateContext(const OptimizerImpl& optimizer, const Variable& global_step)
      : UpdateContext(optimizer, global_step, CurrentGraph()) {}
  UpdateContext(const OptimizerImpl& optimizer, const Variable& global_step, const Graph& graph)
      : optimizer_(optimizer), global_step_(global_step), graph_(graph) {}

  // The slot "key" of a variable, made at the first call: "<variable>/<Optimizer>", then "…_1".
  Variable Slot(const Variable& variable, std::string_view key, const Initializer& initializer);
  // A hyper-parameter as a scalar of the variable's type; one node per name and type.
  Output Number(std::string_view name, double value, DType dtype);
  Output Rate(const LearningRate& rate, DType dtype);
  // A scalar variable of the optimizer's own, e.g. beta1_power.
  Variable Scalar(std::string_view name, double initial);
  const Variable& global_step() const { return global_step_; }

 private:
  const OptimizerImpl& optimizer_;
  const Variable global_step_;
  const Graph& graph_;
  std::map<std::pair<std::string, DType>, Output> numbers_;
};

class OptimizerImpl {
 public:
  virtual ~OptimizerImpl() = default;
  virtual const std::string& name() const = 0;
  // Keys of the slots, in the order in which they are made.
  virtual std::vector<std::string> SlotKeys() const { return {}; }
  // Whose slots are its own: of one that wraps another, that.
  virtual const OptimizerImpl& slot_owner() const { return *this; }
  // Whether it makes the gradients those of synchronous training.
  virtual bool marks_gradients() const { return false; }
  // All of an update.
  virtual Operation Apply(const std::vector<GradientAndVariable>& gradients,
                          const Variable& global_step, std::string_view name) const = 0;
};

// Marked as a SyncReplicasScope says (sync_replicas.h); without one as they are.
std::vector<GradientAndVariable> MarkInScope(const std::vector<GradientAndVariable>& gradients);

// The same slices with every row once.
IndexedSlices AddUpRows(const IndexedSlices& slices);

// One that updates each variable by itself, as most do.
class PerVariableOptimizer : public OptimizerImpl {
 public:
  Operation Apply(const std::vector<GradientAndVariable>& gradients, const Variable& global_step,
                  std::string_view name) const final;

  // The parts of Apply, for updates in branches. First all slots and scalars are made, outside.
  void PrepareAll(UpdateContext& context, const std::vector<GradientAndVariable>& gradients) const;
  // Then the rest; or changes of some of the variables with their slots, and what follows when all
  // "updates" are made, with the count of the step.
  Operation ApplyPrepared(UpdateContext& context, const std::vector<GradientAndVariable>& gradients,
                          std::string_view name) const;
  std::vector<Operation> UpdateSome(UpdateContext& context,
                                    const std::vector<GradientAndVariable>& gradients) const;
  Operation FinishAll(UpdateContext& context, std::vector<Operation> updates) const;

 protected:
  // Makes slots and scalars; all variables' slots stand before the first update.
  virtual void Prepare(UpdateContext& context, const Variable& variable) const = 0;
  virtual Operation Update(UpdateContext& context, const Variable& variable,
                           Output gradient) const = 0;
  // The rows in "slices" are different ones.
  virtual Operation UpdateRows(UpdateContext& context, const Variable& variable,
                               const IndexedSlices& slices) const = 0;
  // What must happen once after all updates.
  virtual std::vector<Operation> Finish(UpdateContext& context) const {
    (void)context;
    return {};
  }
};

}  // namespace sextant::train
