#include "sextant/train/accumulate_gradients.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "sextant/base/error.h"
#include "sextant/graph/device_name.h"
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

// "/job:ps/task:1", or "" where the device names no task.
std::string TaskOf(const Variable& variable) {
  DeviceName name = DeviceName::Parse(variable.handle().node()->device());
  name.type.clear();
  name.index.reset();
  return name.ToString();
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
  const Variable& variable() const { return variable_; }

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

// The update, where there are enough gradients. A branch runs on one task and changes variables of
// that task only: there is one in all, or one per task with variables and then what follows them.
class ConditionalUpdate {
 public:
  ConditionalUpdate(const Optimizer& optimizer, const std::vector<Accumulator>& sums, int64_t steps,
                    const Variable& count, const Variable& global_step)
      : optimizer_(optimizer),
        sums_(sums),
        steps_(steps),
        count_(count),
        global_step_(global_step),
        graph_(CurrentGraph()) {
    const bool named = !TaskOf(count).empty() || (global_step && !TaskOf(global_step).empty()) ||
                       std::ranges::any_of(sums, [](const Accumulator& sum) {
                         return !TaskOf(sum.variable()).empty();
                       });
    if (named) parts_ = dynamic_cast<const PerVariableOptimizer*>(optimizer.impl().get());
  }

  // Outside of branches, so that each is on the task of its variable.
  void MakeSlots(const std::vector<GradientAndVariable>& gradients) const {
    if (parts_ == nullptr) return;
    const GraphScope no_scopes(graph_);
    const DeviceScope scalars(count_.handle().node()->device());
    UpdateContext context(*parts_, global_step_);
    parts_->PrepareAll(context, gradients);
  }

  Operation Build(Output full) const {
    const std::string counts = TaskOf(count_);
    const std::string finishes = global_step_ ? TaskOf(global_step_) : counts;
    std::map<std::string, std::vector<Accumulator>> by_task;
    for (const Accumulator& sum : sums_) by_task[TaskOf(sum.variable())].push_back(sum);
    const bool one = by_task.size() == 1 && by_task.contains(counts) && counts == finishes;
    if (one || parts_ == nullptr) {
      return Branch(one ? counts : "", full, [this] {
        const ControlDependencies updated({UpdateAll()});
        return Resets(sums_, true);
      });
    }
    std::vector<Operation> done;
    for (const auto& [task, sums] : by_task) {
      done.push_back(Branch(task, full, [&] {
        const ControlDependencies updated(UpdateSome(sums));
        return Resets(sums, false);
      }));
    }
    const ControlDependencies after(done);
    const Operation finished = Branch(finishes, full, [&] {
      const ControlDependencies updated({Finish()});
      return Resets({}, counts == finishes);
    });
    if (counts == finishes) return finished;
    const ControlDependencies after_all({finished});
    return Branch(counts, full, [&] { return Resets({}, true); });
  }

 private:
  // "make" gives the last operations of the branch.
  static Operation Branch(const std::string& task, Output full,
                          const std::function<std::vector<Operation>()>& make) {
    std::optional<DeviceScope> any, there;
    if (!task.empty()) {
      any.emplace("");
      there.emplace(task);
    }
    const auto update = [&] {
      const ControlDependencies made(make());
      return std::vector<Output>{Const(Tensor(true))};
    };
    return Cond(full, update, [] { return std::vector<Output>{Const(Tensor(false))}; })[0];
  }

  std::vector<GradientAndVariable> Means(const std::vector<Accumulator>& sums) const {
    std::vector<GradientAndVariable> means;
    for (const Accumulator& sum : sums) means.push_back(sum.Mean(steps_));
    return means;
  }
  Operation UpdateAll() const {
    if (parts_ == nullptr) return optimizer_.ApplyGradients(Means(sums_), global_step_);
    UpdateContext context(*parts_, global_step_, graph_);
    return parts_->ApplyPrepared(context, Means(sums_), parts_->name());
  }
  std::vector<Operation> UpdateSome(const std::vector<Accumulator>& sums) const {
    UpdateContext context(*parts_, global_step_, graph_);
    const auto means = Means(sums);
    const NameScope scope(parts_->name());
    return parts_->UpdateSome(context, means);
  }
  Operation Finish() const {
    UpdateContext context(*parts_, global_step_, graph_);
    const NameScope scope(parts_->name());
    return parts_->FinishAll(context, {});
  }
  std::vector<Operation> Resets(const std::vector<Accumulator>& sums, bool count) const {
    std::vector<Operation> resets;
    if (count) resets.push_back(SetToZero(count_));
    for (const Accumulator& sum : sums) sum.Reset(resets);
    return resets;
  }

  const Optimizer& optimizer_;
  // Null: it is not made of parts, or need not be, for no device names a task.
  const PerVariableOptimizer* parts_ = nullptr;
  const std::vector<Accumulator>& sums_;
  const int64_t steps_;
  const Variable count_, global_step_;
  Graph& graph_;
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
    const Variable count = MakeCount(global_step);
    const Output counted = count.AssignAdd(Const(Tensor(int64_t{1})));
    adds.push_back(counted);
    const ControlDependencies after(adds);
    const Output full = GreaterEqual(counted, Const(Tensor(steps_)));
    const ConditionalUpdate update(inner_, sums, steps_, count, global_step);
    update.MakeSlots(gradients);
    return update.Build(full);
  }

 private:
  // Beside the step where that is on some task, so that one call changes both.
  Variable MakeCount(const Variable& global_step) const {
    std::optional<DeviceScope> beside;
    if (global_step && !TaskOf(global_step).empty())
      beside.emplace(global_step.handle().node()->device());
    return ZeroVariable(name_ + "/steps", Shape{}, DType::kInt64);
  }

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
