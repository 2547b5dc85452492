// Adagrad and its relatives, FTRL, proximal steps.
#include "sextant/base/error.h"
#include "sextant/nn/initializers.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/training/apply_adadelta.h"
#include "sextant/ops/training/apply_adagrad.h"
#include "sextant/ops/training/apply_ftrl.h"
#include "sextant/ops/training/apply_proximal.h"
#include "sextant/train/optimizer_impl.h"
#include "sextant/train/optimizers.h"

namespace sextant::train {
namespace {

using initializers::Constant;
using initializers::Zeros;

class AdagradImpl : public PerVariableOptimizer {
 public:
  explicit AdagradImpl(AdagradOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override { return {"accumulator"}; }
  void Prepare(UpdateContext& context, const Variable& v) const override {
    Accumulator(context, v);
  }

  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    return ResourceApplyAdagrad(v.handle(), Accumulator(context, v),
                                context.Rate(options_.learning_rate, v.dtype()), gradient);
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    return ResourceSparseApplyAdagrad(v.handle(), Accumulator(context, v),
                                      context.Rate(options_.learning_rate, v.dtype()),
                                      slices.values, slices.indices);
  }

 private:
  Output Accumulator(UpdateContext& context, const Variable& v) const {
    return context.Slot(v, "accumulator", Constant(options_.initial_accumulator_value)).handle();
  }
  const AdagradOptions options_;
};

class AdagradDAImpl : public PerVariableOptimizer {
 public:
  explicit AdagradDAImpl(AdagradDAOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override {
    return {"gradient_accumulator", "gradient_squared_accumulator"};
  }
  void Prepare(UpdateContext& context, const Variable& v) const override {
    if (!context.global_step()) {
      throw InvalidArgument("AdagradDA needs a global step; give one to Minimize");
    }
    MakeParts(context, v);
  }
  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    const Parts p = MakeParts(context, v);
    return ResourceApplyAdagradDA(v.handle(), p.sum, p.squares, gradient, p.rate, p.l1, p.l2,
                                  NextStep(context));
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    const Parts p = MakeParts(context, v);
    return ResourceSparseApplyAdagradDA(v.handle(), p.sum, p.squares, slices.values, slices.indices,
                                        p.rate, p.l1, p.l2, NextStep(context));
  }

 private:
  struct Parts {
    Output sum, squares, rate, l1, l2;
  };
  // The sums have one gradient more than the step says.
  static Output NextStep(UpdateContext& context) { return context.global_step().value() + 1.0; }
  Parts MakeParts(UpdateContext& context, const Variable& v) const {
    return {context.Slot(v, "gradient_accumulator", Zeros()).handle(),
            context
                .Slot(v, "gradient_squared_accumulator",
                      Constant(options_.initial_gradient_squared_accumulator_value))
                .handle(),
            context.Rate(options_.learning_rate, v.dtype()),
            context.Number("l1", options_.l1_regularization_strength, v.dtype()),
            context.Number("l2", options_.l2_regularization_strength, v.dtype())};
  }
  const AdagradDAOptions options_;
};

class AdadeltaImpl : public PerVariableOptimizer {
 public:
  explicit AdadeltaImpl(AdadeltaOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override { return {"accum", "accum_update"}; }
  void Prepare(UpdateContext& context, const Variable& v) const override { MakeParts(context, v); }
  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    const Parts p = MakeParts(context, v);
    return ResourceApplyAdadelta(v.handle(), p.accum, p.update, p.rate, p.rho, p.epsilon, gradient);
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    const Parts p = MakeParts(context, v);
    return ResourceSparseApplyAdadelta(v.handle(), p.accum, p.update, p.rate, p.rho, p.epsilon,
                                       slices.values, slices.indices);
  }

 private:
  struct Parts {
    Output accum, update, rate, rho, epsilon;
  };
  Parts MakeParts(UpdateContext& context, const Variable& v) const {
    return {context.Slot(v, "accum", Zeros()).handle(),
            context.Slot(v, "accum_update", Zeros()).handle(),
            context.Rate(options_.learning_rate, v.dtype()),
            context.Number("rho", options_.rho, v.dtype()),
            context.Number("epsilon", options_.epsilon, v.dtype())};
  }
  const AdadeltaOptions options_;
};

class FtrlImpl : public PerVariableOptimizer {
 public:
  explicit FtrlImpl(FtrlOptions options) : options_(std::move(options)) {
    if (options_.learning_rate_power > 0 || options_.initial_accumulator_value < 0 ||
        options_.l1_regularization_strength < 0 || options_.l2_regularization_strength < 0 ||
        options_.l2_shrinkage_regularization_strength < 0) {
      throw InvalidArgument(
          "Ftrl: learning_rate_power must not be positive, the other numbers not negative");
    }
  }
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override { return {"accum", "linear"}; }
  void Prepare(UpdateContext& context, const Variable& v) const override { MakeParts(context, v); }

  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    const Parts p = MakeParts(context, v);
    if (options_.l2_shrinkage_regularization_strength > 0) {
      return ResourceApplyFtrlV2(v.handle(), p.accum, p.linear, gradient, p.rate, p.l1, p.l2,
                                 Shrinkage(context, v), p.power);
    }
    return ResourceApplyFtrl(v.handle(), p.accum, p.linear, gradient, p.rate, p.l1, p.l2, p.power);
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    const Parts p = MakeParts(context, v);
    if (options_.l2_shrinkage_regularization_strength > 0) {
      return ResourceSparseApplyFtrlV2(v.handle(), p.accum, p.linear, slices.values, slices.indices,
                                       p.rate, p.l1, p.l2, Shrinkage(context, v), p.power);
    }
    return ResourceSparseApplyFtrl(v.handle(), p.accum, p.linear, slices.values, slices.indices,
                                   p.rate, p.l1, p.l2, p.power);
  }

 private:
  struct Parts {
    Output accum, linear, rate, l1, l2, power;
  };
  Parts MakeParts(UpdateContext& context, const Variable& v) const {
    Parts p{context.Slot(v, "accum", Constant(options_.initial_accumulator_value)).handle(),
            context.Slot(v, "linear", Zeros()).handle(),
            context.Rate(options_.learning_rate, v.dtype()),
            context.Number("l1_regularization_strength", options_.l1_regularization_strength,
                           v.dtype()),
            context.Number("l2_regularization_strength", options_.l2_regularization_strength,
                           v.dtype()),
            context.Number("lr_power", options_.learning_rate_power, v.dtype())};
    if (options_.beta != 0) p.l2 = p.l2 + options_.beta / (2.0 * p.rate);
    return p;
  }
  Output Shrinkage(UpdateContext& context, const Variable& v) const {
    return context.Number("l2_shrinkage_regularization_strength",
                          options_.l2_shrinkage_regularization_strength, v.dtype());
  }
  const FtrlOptions options_;
};

class ProximalAdagradImpl : public PerVariableOptimizer {
 public:
  explicit ProximalAdagradImpl(ProximalAdagradOptions options) : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  std::vector<std::string> SlotKeys() const override { return {"accumulator"}; }
  void Prepare(UpdateContext& context, const Variable& v) const override { MakeParts(context, v); }
  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    const Parts p = MakeParts(context, v);
    return ResourceApplyProximalAdagrad(v.handle(), p.accum, p.rate, p.l1, p.l2, gradient);
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    const Parts p = MakeParts(context, v);
    return ResourceSparseApplyProximalAdagrad(v.handle(), p.accum, p.rate, p.l1, p.l2,
                                              slices.values, slices.indices);
  }

 private:
  struct Parts {
    Output accum, rate, l1, l2;
  };
  Parts MakeParts(UpdateContext& context, const Variable& v) const {
    return {context.Slot(v, "accumulator", Constant(options_.initial_accumulator_value)).handle(),
            context.Rate(options_.learning_rate, v.dtype()),
            context.Number("l1", options_.l1_regularization_strength, v.dtype()),
            context.Number("l2", options_.l2_regularization_strength, v.dtype())};
  }
  const ProximalAdagradOptions options_;
};

class ProximalGradientDescentImpl : public PerVariableOptimizer {
 public:
  explicit ProximalGradientDescentImpl(ProximalGradientDescentOptions options)
      : options_(std::move(options)) {}
  const std::string& name() const override { return options_.name; }
  void Prepare(UpdateContext&, const Variable&) const override {}
  Operation Update(UpdateContext& context, const Variable& v, Output gradient) const override {
    return ResourceApplyProximalGradientDescent(v.handle(),
                                                context.Rate(options_.learning_rate, v.dtype()),
                                                L1(context, v), L2(context, v), gradient);
  }
  Operation UpdateRows(UpdateContext& context, const Variable& v,
                       const IndexedSlices& slices) const override {
    return ResourceSparseApplyProximalGradientDescent(
        v.handle(), context.Rate(options_.learning_rate, v.dtype()), L1(context, v), L2(context, v),
        slices.values, slices.indices);
  }

 private:
  Output L1(UpdateContext& context, const Variable& v) const {
    return context.Number("l1", options_.l1_regularization_strength, v.dtype());
  }
  Output L2(UpdateContext& context, const Variable& v) const {
    return context.Number("l2", options_.l2_regularization_strength, v.dtype());
  }
  const ProximalGradientDescentOptions options_;
};

}  // namespace

Optimizer Adagrad(const AdagradOptions& options) {
  return Optimizer(std::make_shared<AdagradImpl>(options));
}
Optimizer AdagradDA(const AdagradDAOptions& options) {
  return Optimizer(std::make_shared<AdagradDAImpl>(options));
}
Optimizer Adadelta(const AdadeltaOptions& options) {
  return Optimizer(std::make_shared<AdadeltaImpl>(options));
}
Optimizer Ftrl(const FtrlOptions& options) {
  return Optimizer(std::make_shared<FtrlImpl>(options));
}
Optimizer ProximalAdagrad(const ProximalAdagradOptions& options) {
  return Optimizer(std::make_shared<ProximalAdagradImpl>(options));
}
Optimizer ProximalGradientDescent(const ProximalGradientDescentOptions& options) {
  return Optimizer(std::make_shared<ProximalGradientDescentImpl>(options));
}

}  // namespace sextant::train
