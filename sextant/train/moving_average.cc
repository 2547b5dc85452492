#include "sextant/train/moving_average.h"

#include <optional>
#include <set>

#include "sextant/base/error.h"
#include "sextant/graph/replica.h"
#include "sextant/graph/update_mark.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/unary.h"

namespace sextant::train {
namespace {

using Shadows = std::map<std::string, Variable>;

// The value that a variable's initializer stores.
Output InitialValue(const Variable& variable) {
  const Operation initializer = variable.initializer();
  if (!initializer) {
    throw FailedPrecondition("variable '{}' has no initial value to average from", variable.name());
  }
  return initializer.node()->input(1);
}

}  // namespace

// A variable or a tensor.
struct MovingAverage::Source {
  std::string name;
  Output value;
  Variable::Initializer initial;  // of the shadow
  // Where the shadow is: beside a variable, for tensors where the scopes say.
  std::optional<std::string> device = {};
};

Variable MovingAverage::Find(const std::string& name) const {
  const auto it = shadows_.find(name);
  return it == shadows_.end() ? Variable() : it->second;
}

Variable MovingAverage::Average(Output tensor) const { return Find(tensor.node()->name()); }

Operation MovingAverage::Apply(const std::vector<Variable>& variables) {
  if (Replica* replica = Replica::Current()) {
    // Once for all replicas, which share the variables and their shadows.
    using Applied = std::pair<Operation, Shadows>;
    const std::function<Applied(const std::vector<std::vector<Variable>>&)> apply =
        [this](const auto& all) { return Applied(Apply(all[0]), shadows_); };
    const Applied applied = replica->Merge("a moving average", variables, apply);
    shadows_ = applied.second;
    return applied.first;
  }
  std::vector<Source> sources;
  for (const Variable& variable : variables) {
    const Output initial = InitialValue(variable);
    Graph& graph = variable.handle().graph();
    const int first = graph.num_nodes();
    sources.push_back(
        {variable.name(), variable.value(),
         [initial, zero = options_.zero_debias] { return zero ? ZerosLike(initial) : initial; },
         variable.handle().node()->device()});
    MarkUpdatesSince(graph, first);
    if (!shadows_.contains(variable.name())) {
      graph.AddToCollection(kMovingAverageVariables, variable.handle());
    }
  }
  return ApplyTo(sources);
}

Operation MovingAverage::ApplyToTensors(const std::vector<Output>& tensors) {
  if (Replica* replica = Replica::Current()) {
    using Applied = std::pair<Operation, Shadows>;
    const std::function<Applied(const std::vector<std::vector<Output>>&)> apply =
        [&](const auto& all) {
          std::vector<Output> means;
          for (size_t i = 0; i < tensors.size(); ++i) {
            std::vector<Output> same;
            for (const auto& of_replica : all) same.push_back(of_replica[i]);
            means.push_back(AddN(same) / static_cast<double>(same.size()));
          }
          const Operation applied = ApplyToTensors(means);
          Shadows shadows;  // each replica finds them by its own tensors
          for (const auto& of_replica : all) {
            for (size_t i = 0; i < means.size(); ++i) {
              shadows[of_replica[i].node()->name()] = Average(means[i]);
            }
          }
          return Applied(applied, shadows);
        };
    const Applied applied = replica->Merge("a moving average", tensors, apply);
    shadows_.insert(applied.second.begin(), applied.second.end());
    return applied.first;
  }
  std::vector<Source> sources;
  for (const Output& tensor : tensors) {
    if (!IsFloating(tensor.dtype()) || !tensor.shape().fully_known()) {
      throw InvalidArgument(
          "a moving average needs floating numbers of a known shape; {} is {} of shape {}",
          tensor.name(), DTypeName(tensor.dtype()), tensor.shape().ToString());
    }
    sources.push_back({tensor.node()->name(), tensor,
                       [=] { return Zeros(tensor.shape().AsShape(), tensor.dtype()); }});
  }
  return ApplyTo(sources);
}

Operation MovingAverage::ApplyTo(const std::vector<Source>& sources) {
  const VariableOptions no_training{.trainable = false};
  for (const Source& source : sources) {
    if (shadows_.contains(source.name)) continue;
    const NameScope root("");
    std::optional<DeviceScope> beside;
    if (source.device) beside.emplace(*source.device);
    shadows_[source.name] = Variable(AverageName(source.name), source.initial, no_training);
  }
  const NameScope scope(options_.name);
  Graph& graph = CurrentGraph();
  int first = graph.num_nodes();
  Output decay = Const(Tensor(options_.decay), "decay");
  if (options_.num_updates) {
    const Output updates = Cast(options_.num_updates.value(), DType::kFloat);
    decay = Minimum(decay, (1.0 + updates) / (10.0 + updates));
    MarkUpdatesSince(graph, first);
  }
  std::vector<Operation> moves;
  for (const Source& source : sources) {
    first = graph.num_nodes();
    const Variable& shadow = shadows_.at(source.name);
    const NameScope inside("AssignMovingAvg");
    std::optional<DeviceScope> beside;
    if (source.device) beside.emplace(*source.device);
    Output rate = 1.0 - decay;
    if (rate.dtype() != source.value.dtype()) rate = Cast(rate, source.value.dtype());
    if (!options_.zero_debias) {
      moves.push_back(OpBuilder("AssignSubVariableOp")
                          .Input(shadow.handle())
                          .Input((shadow.value() - source.value) * rate)
                          .BuildOperation());
      MarkUpdatesSince(graph, first);
      continue;
    }
    // The average of zeros and values, kept beside the shadow, over the share of values in it.
    const NameScope root("");
    const std::string base = AverageName(source.name);
    const Variable biased(
        base + "/biased", [&] { return ZerosLike(source.initial()); }, no_training);
    const Variable step(base + "/local_step", Const(Tensor(0.0f)), no_training);
    first = graph.num_nodes();  // initializers are no updates
    const Output new_biased = biased.AssignSub((biased.value() - source.value) * rate);
    const Output new_step = step.AssignAdd(Const(Tensor(1.0f)));
    Output share = 1.0 - Pow(1.0 - (1.0 - decay), new_step);
    if (share.dtype() != source.value.dtype()) share = Cast(share, source.value.dtype());
    moves.push_back(AssignVariable(shadow.handle(), new_biased / share));
    MarkUpdatesSince(graph, first);
  }
  return Group(moves, "group");
}

std::map<std::string, Variable> MovingAverage::VariablesToRestore() const {
  std::vector<Variable> averaged = CollectedVariables(kTrainableVariables);
  for (const Variable& variable : CollectedVariables(kMovingAverageVariables)) {
    averaged.push_back(variable);
  }
  return VariablesToRestore(averaged);
}

std::map<std::string, Variable> MovingAverage::VariablesToRestore(
    const std::vector<Variable>& averaged) const {
  std::map<std::string, Variable> result;
  std::set<std::string> by_average;
  for (const Variable& variable : averaged) {
    result[AverageName(variable)] = variable;
    by_average.insert(variable.name());
  }
  // Shadows that are in this graph too give way to the variables they are restored into.
  for (const Variable& variable : CollectedVariables()) {
    if (!by_average.contains(variable.name())) result.try_emplace(variable.name(), variable);
  }
  return result;
}

}  // namespace sextant::train
