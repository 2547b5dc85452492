// Gradient descent, momentum, Adam and RMSProp.
#include "sextant/nn/initializers.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/state/variable_slices.h"
#include "sextant/ops/training/apply_adam.h"
#include "sextant/ops/training/apply_rms_prop.h"
#include "sextant/ops/training/apply_sgd.h"
#include "sextant/train/optimizer_impl.h"
#include "sextant/train/optimizers.h"

namespace sextant::train {
namespace {

using initializers::Ones;
using initializers::Zeros;

class GradientDescentImpl : public PerVariableOptimizer {
 public:
  explicit GradientDescentImpl(GradientDescentOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  void Prepare(UpdateContext&, const Variable&) const override {}

  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    return ResourceApplyGradientDescent(v.handle(), context.Rate(options_.learning_rate, v.dtype()),
                                        gradient);
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    const Output rate = context.Rate(options_.learning_rate, v.dtype());
    return ResourceScatterAdd(v.handle(), slices.indices, Neg(slices.values) * rate);
  }

 private:
  const GradientDescentOptions options_;
};

class MomentumImpl : public PerVariableOptimizer {
 public:
  explicit MomentumImpl(MomentumOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override { return {"momentum"}; }
  void Prepare(UpdateContext& context, const Variable& v) const override {
    Accumulator(context, v);
  }

  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    return ResourceApplyMomentum(v.handle(), Accumulator(context, v).handle(),
                                 context.Rate(options_.learning_rate, v.dtype()), gradient,
                                 context.Number("momentum", options_.momentum, v.dtype()),
                                 {.use_nesterov = options_.use_nesterov});
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    return ResourceSparseApplyMomentum(v.handle(), Accumulator(context, v).handle(),
                                       context.Rate(options_.learning_rate, v.dtype()),
                                       slices.values, slices.indices,
                                       context.Number("momentum", options_.momentum, v.dtype()),
                                       {.use_nesterov = options_.use_nesterov});
  }

 private:
  static Variable Accumulator(UpdateContext& context, const Variable& v) {
    return context.Slot(v, "momentum", Zeros());
  }
  const MomentumOptions options_;
};

// Adam and, with a weight decay, AdamW.
class AdamImpl : public PerVariableOptimizer {
 public:
  explicit AdamImpl(AdamWOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override { return {"m", "v"}; }

  void Prepare(UpdateContext& context, const Variable& v) const override {
    Power(context, 1);
    Power(context, 2);
    M(context, v);
    V(context, v);
  }

  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    const Output rate = context.Rate(options_.learning_rate, v.dtype());
    const auto number = [&](const char* name, double value) {
      return context.Number(name, value, v.dtype());
    };
    const Operation decay = Decay(v, rate);
    const ControlDependencies after(decay ? std::vector<Operation>{decay}
                                          : std::vector<Operation>{});
    return ResourceApplyAdam(v.handle(), M(context, v).handle(), V(context, v).handle(),
                             PowerAs(context, 1, v.dtype()), PowerAs(context, 2, v.dtype()), rate,
                             number("beta1", options_.beta1), number("beta2", options_.beta2),
                             number("epsilon", options_.epsilon), gradient);
  }

  // All rows of the averages decay, those given also move.
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    const auto number = [&](const char* name, double value) {
      return context.Number(name, value, v.dtype());
    };
    const Output base_rate = context.Rate(options_.learning_rate, v.dtype());
    const Output beta1 = number("beta1", options_.beta1), beta2 = number("beta2", options_.beta2);
    const Output rate = base_rate * Sqrt(1.0 - PowerAs(context, 2, v.dtype())) /
                        (1.0 - PowerAs(context, 1, v.dtype()));
    const Operation decay = Decay(v, base_rate);
    const Output m = Moved(M(context, v), beta1, slices, slices.values * (1.0 - beta1));
    const Output second =
        Moved(V(context, v), beta2, slices, slices.values * slices.values * (1.0 - beta2));
    std::vector<Operation> before;
    if (decay) before.push_back(decay);
    const ControlDependencies after(before);
    return OpBuilder("AssignSubVariableOp")
        .Input(v.handle())
        .Input(rate * m / (Sqrt(second) + number("epsilon", options_.epsilon)))
        .BuildOperation();
  }

  std::vector<Operation> Finish(UpdateContext& context) const override {
    const Variable power1 = Power(context, 1), power2 = Power(context, 2);
    return {AssignVariable(power1.handle(),
                           power1.value() * context.Number("beta1", options_.beta1, DType::kFloat)),
            AssignVariable(power2.handle(), power2.value() * context.Number("beta2", options_.beta2,
                                                                            DType::kFloat))};
  }

 private:
  static Variable M(UpdateContext& context, const Variable& v) {
    return context.Slot(v, "m", Zeros());
  }
  static Variable V(UpdateContext& context, const Variable& v) {
    return context.Slot(v, "v", Zeros());
  }
  Variable Power(UpdateContext& context, int which) const {
    return which == 1 ? context.Scalar("beta1_power", options_.beta1)
                      : context.Scalar("beta2_power", options_.beta2);
  }
  Output PowerAs(UpdateContext& context, int which, DType dtype) const {
    const Output power = Power(context, which).value();
    return dtype == DType::kFloat ? power : Cast(power, dtype);
  }
  // slot = beta * slot, then "rows" added to it; the value afterwards.
  static Output Moved(const Variable& slot, Output beta, const IndexedSlices& slices, Output rows) {
    const Operation shrink = AssignVariable(slot.handle(), slot.value() * beta);
    const ControlDependencies after({shrink});
    const Operation add = ResourceScatterAdd(slot.handle(), slices.indices, rows);
    const ControlDependencies then({add});
    return slot.Read();
  }
  Operation Decay(const Variable& v, Output rate) const {
    if (options_.weight_decay == 0 || (options_.decays && !options_.decays(v))) return {};
    return OpBuilder("AssignSubVariableOp")
        .Input(v.handle())
        .Input(v.value() * rate * options_.weight_decay)
        .BuildOperation();
  }
  const AdamWOptions options_;
};

class RmsPropImpl : public PerVariableOptimizer {
 public:
  explicit RmsPropImpl(RmsPropOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override {
    if (options_.centered) return {"rms", "mg", "momentum"};
    return {"rms", "momentum"};
  }
  void Prepare(UpdateContext& context, const Variable& v) const override { MakeSlots(context, v); }

  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    const Parts p = MakeSlots(context, v);
    if (options_.centered) {
      return ResourceApplyCenteredRMSProp(v.handle(), p.mg, p.ms, p.mom, p.rate, p.decay,
                                          p.momentum, p.epsilon, gradient);
    }
    return ResourceApplyRMSProp(v.handle(), p.ms, p.mom, p.rate, p.decay, p.momentum, p.epsilon,
                                gradient);
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    const Parts p = MakeSlots(context, v);
    if (options_.centered) {
      return ResourceSparseApplyCenteredRMSProp(v.handle(), p.mg, p.ms, p.mom, p.rate, p.decay,
                                                p.momentum, p.epsilon, slices.values,
                                                slices.indices);
    }
    return ResourceSparseApplyRMSProp(v.handle(), p.ms, p.mom, p.rate, p.decay, p.momentum,
                                      p.epsilon, slices.values, slices.indices);
  }

 private:
  struct Parts {
    Output ms, mg, mom, rate, decay, momentum, epsilon;
  };
  Parts MakeSlots(UpdateContext& context, const Variable& v) const {
    Parts p;
    p.ms = context.Slot(v, "rms", Ones()).handle();
    if (options_.centered) p.mg = context.Slot(v, "mg", Zeros()).handle();
    p.mom = context.Slot(v, "momentum", Zeros()).handle();
    p.rate = context.Rate(options_.learning_rate, v.dtype());
    p.decay = context.Number("decay", options_.decay, v.dtype());
    p.momentum = context.Number("momentum", options_.momentum, v.dtype());
    p.epsilon = context.Number("epsilon", options_.epsilon, v.dtype());
    return p;
  }
  const RmsPropOptions options_;
};

}  // namespace

Optimizer GradientDescent(const GradientDescentOptions& options) {
  return Optimizer(std::make_shared<GradientDescentImpl>(options));
}
Optimizer Momentum(const MomentumOptions& options) {
  return Optimizer(std::make_shared<MomentumImpl>(options));
}
Optimizer Adam(const AdamOptions& options) {
  return AdamW({.learning_rate = options.learning_rate,
                .weight_decay = 0,
                .beta1 = options.beta1,
                .beta2 = options.beta2,
                .epsilon = options.epsilon,
                .name = options.name});
}
Optimizer AdamW(const AdamWOptions& options) {
  return Optimizer(std::make_shared<AdamImpl>(options));
}
Optimizer RmsProp(const RmsPropOptions& options) {
  return Optimizer(std::make_shared<RmsPropImpl>(options));
}

}  // namespace sextant::train
