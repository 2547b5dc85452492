#include "sextant/train/accumulate_gradients.h"

#include "sextant/base/error.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/where.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/control_flow/functional.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/state/variable_slices.h"
#include "sextant/train/optimizer_impl.h"

namespace sextant::train {
namespace {

Variable ZeroVariable(const std::string& name, const Shape& shape, DType dtype) {
  const NameScope root("");
  return Variable(name, [&] { return Zeros(shape, dtype); }, {.trainable = false});
}

Operation SetToZero(const Variable& variable) {
  return AssignVariable(variable.handle(), Zeros(variable.shape().AsShape(), variable.dtype()));
}

// The sum of one variable's gradients.
class Accumulator {
 public:
  Accumulator(const Gradient& gradient, const Variable& variable) : variable_(variable) {
    const DeviceScope beside(variable.handle().node()->device());
    const std::string name = variable.name() + "/GradientAccumulator";
    const Shape shape = variable.shape().AsShape();
    sum_ = ZeroVariable(name, shape, variable.dtype());
    if (!gradient.sparse()) {
      add_ = {OpBuilder("AssignAddVariableOp")
                  .Input(sum_.handle())
                  .Input(gradient.dense())
                  .BuildOperation()};
      return;
    }
    touched_ = ZeroVariable(name + "/rows", Shape{shape.dim(0)}, DType::kBool);
    const IndexedSlices& slices = gradient.slices();
    const Output yes = Fill(ShapeOf(slices.indices), Const(Tensor(true)));
    add_ = {ResourceScatterAdd(sum_.handle(), slices.indices, slices.values),
            ResourceScatterUpdate(touched_.handle(), slices.indices, yes)};
  }

  const std::vector<Operation>& add() const { return add_; }

  GradientAndVariable Mean(int64_t steps) const {
    const double share = 1.0 / static_cast<double>(steps);
    if (!touched_) return {sum_.Read() * share, variable_};
    const Output rows = Squeeze(Where(touched_.Read()), {1});
    const Output values = Gather(sum_.Read(), rows) * share;
    return {IndexedSlices{values, rows, VariableShape(variable_.handle(), DType::kInt64)},
            variable_};
  }
  void Reset(std::vector<Operation>& resets) const {
    resets.push_back(SetToZero(sum_));
    if (touched_) resets.push_back(SetToZero(touched_));
  }

 private:
  Variable variable_, sum_, touched_;
  std::vector<Operation> add_;
};

class AccumulatingOptimizer : public OptimizerImpl {
 public:
  AccumulatingOptimizer(Optimizer inner, int64_t steps) : inner_(std::move(inner)), steps_(steps) {}

  const std::string& name() const override { return name_; }
  Operation Apply(const std::vector<GradientAndVariable>& gradients, const Variable& global_step,
                  std::string_view name) const override {
    const NameScope scope(name.empty() ? name_ : std::string(name));
    std::vector<Accumulator> sums;
    std::vector<Operation> adds;
    for (const auto& [gradient, variable] : gradients) {
      if (gradient.none()) continue;
      sums.emplace_back(gradient, variable);
      adds.insert(adds.end(), sums.back().add().begin(), sums.back().add().end());
    }
    if (sums.empty()) return inner_.ApplyGradients(gradients, global_step, name);  // says why not
    const Variable count = ZeroVariable(name_ + "/steps", Shape{}, DType::kInt64);
    const Output counted = count.AssignAdd(Const(Tensor(int64_t{1})));
    adds.push_back(counted);
    const ControlDependencies after(adds);
    const Output full = GreaterEqual(counted, Const(Tensor(steps_)));
    const auto update = [&] {
      std::vector<GradientAndVariable> means;
      for (const Accumulator& sum : sums) means.push_back(sum.Mean(steps_));
      const ControlDependencies updated({inner_.ApplyGradients(means, global_step)});
      std::vector<Operation> resets = {SetToZero(count)};
      for (const Accumulator& sum : sums) sum.Reset(resets);
      const ControlDependencies reset(resets);
      return std::vector<Output>{Const(Tensor(true))};
    };
    return Cond(full, update, [] { return std::vector<Output>{Const(Tensor(false))}; })[0];
  }

 private:
  const Optimizer inner_;
  const int64_t steps_;
  const std::string name_ = "AccumulateGradients";
};

}  // namespace

Optimizer AccumulateGradients(const Optimizer& optimizer, int64_t steps) {
  if (!optimizer) throw InvalidArgument("there is no optimizer to accumulate gradients for");
  if (steps < 1) throw InvalidArgument("gradients of {} steps cannot be accumulated", steps);
  if (steps == 1) return optimizer;
  return Optimizer(std::make_shared<AccumulatingOptimizer>(optimizer, steps));
}

}  // namespace sextant::train
