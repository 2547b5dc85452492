#include "sextant/train/schedules.h"

#include <cmath>
#include <numbers>

#include "sextant/base/error.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"

namespace sextant::train {
namespace {

Output Number(float value) { return Const(Tensor(value)); }

// Builds the rate from the step as a float, in a scope of its own.
LearningRate Of(const char* name, std::function<Output(Output t)> build) {
  return LearningRate([=](Output global_step) {
    const NameScope scope(name);
    return build(Cast(global_step, DType::kFloat));
  });
}

Output Periods(Output t, const ExponentialDecayOptions& options) {
  const Output periods = t / Number(options.decay_steps);
  return options.staircase ? Floor(periods) : periods;
}

void CheckSteps(float steps, const char* schedule) {
  if (!(steps > 0))
    throw InvalidArgument("{}: decay_steps must be positive, is {}", schedule, steps);
}

// (1 + cos(pi x)) / 2
Output HalfCosine(Output x) {
  return 0.5 * (1.0 + Cos(Number(static_cast<float>(std::numbers::pi)) * x));
}

Output WithFloor(Output decayed, float alpha) {
  return Number(1 - alpha) * decayed + Number(alpha);
}

}  // namespace

LearningRate ExponentialDecay(const ExponentialDecayOptions& options) {
  CheckSteps(options.decay_steps, "ExponentialDecay");
  return Of("ExponentialDecay", [options](Output t) {
    return Number(options.learning_rate) * Pow(Number(options.decay_rate), Periods(t, options));
  });
}

LearningRate NaturalExpDecay(const ExponentialDecayOptions& options) {
  CheckSteps(options.decay_steps, "NaturalExpDecay");
  return Of("ExponentialTimeDecay", [options](Output t) {
    return Number(options.learning_rate) *
           Pow(Number(std::exp(-options.decay_rate)), Periods(t, options));
  });
}

LearningRate InverseTimeDecay(const ExponentialDecayOptions& options) {
  CheckSteps(options.decay_steps, "InverseTimeDecay");
  return Of("InverseTimeDecay", [options](Output t) {
    return Number(options.learning_rate) / (1.0 + Number(options.decay_rate) * Periods(t, options));
  });
}

LearningRate PiecewiseConstant(std::vector<int64_t> boundaries, std::vector<float> values) {
  if (values.size() != boundaries.size() + 1) {
    throw InvalidArgument("PiecewiseConstant: {} boundaries need {} values, got {}",
                          boundaries.size(), boundaries.size() + 1, values.size());
  }
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i] <= boundaries[i - 1]) {
      throw InvalidArgument("PiecewiseConstant: boundaries must increase, {} follows {}",
                            boundaries[i], boundaries[i - 1]);
    }
  }
  return LearningRate([=](Output global_step) {
    const NameScope scope("PiecewiseConstant");
    Output rate = Number(values.back());
    for (size_t i = boundaries.size(); i-- > 0;) {
      const Output boundary = Cast(Const(Tensor(boundaries[i])), global_step.dtype());
      rate = Select(LessEqual(global_step, boundary), Number(values[i]), rate);
    }
    return rate;
  });
}

LearningRate PolynomialDecay(const PolynomialDecayOptions& options) {
  CheckSteps(options.decay_steps, "PolynomialDecay");
  return Of("PolynomialDecay", [options](Output t) {
    Output steps = Number(options.decay_steps);
    if (options.cycle) {
      const Output cycles =
          Select(Equal(t, Number(0)), Number(1), Ceil(t / Number(options.decay_steps)));
      steps = steps * cycles;
    } else {
      t = Minimum(t, steps);
    }
    const Output end = Number(options.end_learning_rate);
    return (Number(options.learning_rate) - end) * Pow(1.0 - t / steps, Number(options.power)) +
           end;
  });
}

LearningRate CosineDecay(const CosineDecayOptions& options) {
  CheckSteps(options.decay_steps, "CosineDecay");
  return Of("CosineDecay", [options](Output t) {
    const Output steps = Number(options.decay_steps);
    const Output done = Minimum(t, steps) / steps;
    return Number(options.learning_rate) * WithFloor(HalfCosine(done), options.alpha);
  });
}

LearningRate CosineDecayRestarts(const CosineDecayRestartsOptions& options) {
  CheckSteps(options.first_decay_steps, "CosineDecayRestarts");
  return Of("SGDRDecay", [options](Output t) {
    const Output completed = t / Number(options.first_decay_steps);
    const Output mul = Number(options.t_mul);
    Output restart, fraction;
    if (options.t_mul == 1.0f) {
      restart = Floor(completed);
      fraction = completed - restart;
    } else {
      restart = Floor(Log(1.0 - completed * (1.0 - mul)) / Log(mul));
      const Output before = (1.0 - Pow(mul, restart)) / (1.0 - mul);
      fraction = (completed - before) / Pow(mul, restart);
    }
    const Output height = Pow(Number(options.m_mul), restart);
    return Number(options.learning_rate) * WithFloor(height * HalfCosine(fraction), options.alpha);
  });
}

LearningRate LinearCosineDecay(const LinearCosineDecayOptions& options) {
  CheckSteps(options.decay_steps, "LinearCosineDecay");
  return Of("LinearCosineDecay", [options](Output t) {
    const Output steps = Number(options.decay_steps);
    const Output now = Minimum(t, steps);
    const Output linear = (steps - now) / steps;
    const Output fraction = Number(2 * options.num_periods) * now / steps;
    return Number(options.learning_rate) *
           ((Number(options.alpha) + linear) * HalfCosine(fraction) + Number(options.beta));
  });
}

LearningRate WarmUp(int64_t steps, LearningRate after) {
  if (steps < 0) throw InvalidArgument("WarmUp: steps must not be negative, is {}", steps);
  return LearningRate([=](Output global_step) {
    const NameScope scope("WarmUp");
    const Output length = Cast(Const(Tensor(steps)), global_step.dtype());
    const Output rest = Maximum(global_step - length, ScalarLike(0, global_step));
    const Output rate = after.Build(rest);
    const Output share = Cast(global_step, DType::kFloat) /
                         Const(Tensor(static_cast<float>(std::max<int64_t>(steps, 1))));
    return Select(Less(global_step, length), rate * share, rate);
  });
}

}  // namespace sextant::train
