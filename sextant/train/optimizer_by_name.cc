#include "sextant/train/optimizer_by_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/train/optimizers.h"

namespace sextant::train {
namespace {

// Hands out arguments, remembers which were asked for.
class Reader {
 public:
  Reader(std::string_view optimizer, const Arguments& arguments)
      : optimizer_(optimizer), arguments_(arguments) {}

  template <typename T>
  void Read(std::string_view name, T& value) {
    taken_.insert(std::string(name));
    if (const auto it = arguments_.find(name); it != arguments_.end()) {
      value = static_cast<T>(it->second);
    }
  }
  void Read(std::string_view name, LearningRate& rate) {
    double value = rate.value();
    Read(name, value);
    rate = value;
  }
  void CheckAllTaken() const {
    for (const auto& [name, value] : arguments_) {
      if (!taken_.contains(name)) {
        throw InvalidArgument("optimizer {} takes no '{}'; it takes {}", optimizer_, name,
                              fmt::join(taken_, ", "));
      }
    }
  }

 private:
  const std::string optimizer_;
  const Arguments& arguments_;
  std::set<std::string> taken_;
};

Optimizer ReadGradientDescent(Reader& r) {
  GradientDescentOptions o;
  r.Read("learning_rate", o.learning_rate);
  return GradientDescent(o);
}

Optimizer ReadMomentum(Reader& r) {
  MomentumOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("momentum", o.momentum);
  r.Read("use_nesterov", o.use_nesterov);
  return Momentum(o);
}

Optimizer ReadAdam(Reader& r) {
  AdamOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("beta1", o.beta1);
  r.Read("beta2", o.beta2);
  r.Read("epsilon", o.epsilon);
  return Adam(o);
}

Optimizer ReadAdamW(Reader& r) {
  AdamWOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("weight_decay", o.weight_decay);
  r.Read("beta1", o.beta1);
  r.Read("beta2", o.beta2);
  r.Read("epsilon", o.epsilon);
  return AdamW(o);
}

Optimizer ReadAdagrad(Reader& r) {
  AdagradOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("initial_accumulator_value", o.initial_accumulator_value);
  return Adagrad(o);
}

Optimizer ReadAdagradDA(Reader& r) {
  AdagradDAOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("initial_gradient_squared_accumulator_value",
         o.initial_gradient_squared_accumulator_value);
  r.Read("l1_regularization_strength", o.l1_regularization_strength);
  r.Read("l2_regularization_strength", o.l2_regularization_strength);
  return AdagradDA(o);
}

Optimizer ReadAdadelta(Reader& r) {
  AdadeltaOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("rho", o.rho);
  r.Read("epsilon", o.epsilon);
  return Adadelta(o);
}

Optimizer ReadRMSProp(Reader& r) {
  RmsPropOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("decay", o.decay);
  r.Read("momentum", o.momentum);
  r.Read("epsilon", o.epsilon);
  r.Read("centered", o.centered);
  return RmsProp(o);
}

Optimizer ReadFtrl(Reader& r) {
  FtrlOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("learning_rate_power", o.learning_rate_power);
  r.Read("initial_accumulator_value", o.initial_accumulator_value);
  r.Read("l1_regularization_strength", o.l1_regularization_strength);
  r.Read("l2_regularization_strength", o.l2_regularization_strength);
  r.Read("l2_shrinkage_regularization_strength", o.l2_shrinkage_regularization_strength);
  r.Read("beta", o.beta);
  return Ftrl(o);
}

Optimizer ReadProximalAdagrad(Reader& r) {
  ProximalAdagradOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("initial_accumulator_value", o.initial_accumulator_value);
  r.Read("l1_regularization_strength", o.l1_regularization_strength);
  r.Read("l2_regularization_strength", o.l2_regularization_strength);
  return ProximalAdagrad(o);
}

Optimizer ReadProximalGradientDescent(Reader& r) {
  ProximalGradientDescentOptions o;
  r.Read("learning_rate", o.learning_rate);
  r.Read("l1_regularization_strength", o.l1_regularization_strength);
  r.Read("l2_regularization_strength", o.l2_regularization_strength);
  return ProximalGradientDescent(o);
}

using Maker = Optimizer (*)(Reader&);

const std::map<std::string, Maker, std::less<>>& Makers() {
  static const auto* const makers = new std::map<std::string, Maker, std::less<>>{
      {"GradientDescent", ReadGradientDescent},
      {"Momentum", ReadMomentum},
      {"Adam", ReadAdam},
      {"AdamW", ReadAdamW},
      {"Adagrad", ReadAdagrad},
      {"AdagradDA", ReadAdagradDA},
      {"Adadelta", ReadAdadelta},
      {"RMSProp", ReadRMSProp},
      {"Ftrl", ReadFtrl},
      {"ProximalAdagrad", ReadProximalAdagrad},
      {"ProximalGradientDescent", ReadProximalGradientDescent},
  };
  return *makers;
}

}  // namespace

std::vector<std::string> OptimizerNames() {
  std::vector<std::string> names;
  for (const auto& [name, maker] : Makers()) names.push_back(name);
  return names;
}

Optimizer OptimizerByName(std::string_view name, const Arguments& arguments) {
  std::string_view stem = name;
  if (stem.ends_with("Optimizer")) stem.remove_suffix(9);
  const auto it = Makers().find(stem);
  if (it == Makers().end()) {
    throw InvalidArgument("there is no optimizer '{}'{}", name,
                          DidYouMeanOneOf(name, OptimizerNames()));
  }
  Reader reader(stem, arguments);
  Optimizer optimizer = it->second(reader);
  reader.CheckAllTaken();
  return optimizer;
}

}  // namespace sextant::train
