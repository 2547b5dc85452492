#include "sextant/estimator/canned_models.h"

#include <algorithm>
#include <cmath>

#include "sextant/base/error.h"
#include "sextant/estimator/canned_logits.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizer_by_name.h"

namespace sextant {
namespace {

std::vector<Variable> TrainableIn(const std::string& scope) {
  std::vector<Variable> found;
  for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
    if (variable.name().starts_with(scope)) found.push_back(variable);
  }
  return found;
}

// How many rows the features have.
Output BatchSize(const Features& features) {
  if (features.empty()) throw InvalidArgument("the input gives no features");
  const Features::Value& first = features.fields()[0].second;
  if (const auto* dense = std::get_if<Output>(&first)) return Slice(ShapeOf(*dense), {0}, {1});
  return Slice(Cast(std::get<SparseTensor>(first).dense_shape, DType::kInt32), {0}, {1});
}

}  // namespace

train::Optimizer OptimizerChoice::Make(double learning_rate) const {
  if (optimizer_) return optimizer_;
  if (name_.empty()) throw InvalidArgument("the estimator needs an optimizer");
  return train::OptimizerByName(name_ == "SGD" ? "GradientDescent" : name_,
                                {{"learning_rate", learning_rate}});
}

ModelFn LinearModelFn(const LinearModelFnOptions& options, const heads::Head& head) {
  CheckLinear(options);
  const train::Optimizer optimizer = options.optimizer.Make(0.2);
  return [=](const ModelFnArgs& args) {
    const VariableScope scope("linear");
    return head.Spec(args, LinearLogits(args, options, head.logits_dimension()), optimizer);
  };
}

ModelFn DNNModelFn(const DNNModelFnOptions& options, const heads::Head& head) {
  CheckDNN(options);
  const train::Optimizer optimizer = options.optimizer.Make(0.05);
  return [=](const ModelFnArgs& args) {
    // Slots are made in this scope too: TensorFlow's checkpoints call them by it.
    const VariableScope scope("dnn");
    return head.Spec(args, DNNLogits(args, options, head.logits_dimension()), optimizer);
  };
}

ModelFn DNNLinearCombinedModelFn(const DNNLinearCombinedModelFnOptions& options,
                                 const heads::Head& head) {
  const LinearModelFnOptions wide{.feature_columns = options.linear_feature_columns,
                                  .partitioner = options.input_layer_partitioner,
                                  .sparse_combiner = options.linear_sparse_combiner};
  const DNNModelFnOptions deep{.feature_columns = options.dnn_feature_columns,
                               .hidden_units = options.dnn_hidden_units,
                               .activation = options.dnn_activation,
                               .dropout = options.dnn_dropout,
                               .input_layer_partitioner = options.input_layer_partitioner,
                               .batch_norm = options.batch_norm};
  const auto wide_columns = static_cast<double>(wide.feature_columns.size());
  const bool has_wide = wide_columns > 0, has_deep = !deep.feature_columns.empty();
  if (!has_wide && !has_deep) {
    throw InvalidArgument(
        "a combined model needs linear_feature_columns, dnn_feature_columns or both");
  }
  if (has_deep) CheckDNN(deep);
  const train::Optimizer wide_optimizer =
      options.linear_optimizer.Make(std::min(0.005, 1 / std::sqrt(std::max(wide_columns, 1.0))));
  const train::Optimizer deep_optimizer = options.dnn_optimizer.Make(0.001);

  return [=](const ModelFnArgs& args) {
    Output logits, wide_logits;
    if (has_deep) {
      const VariableScope scope("dnn");
      logits = DNNLogits(args, deep, head.logits_dimension());
    }
    if (has_wide) {
      const VariableScope scope("linear");
      const Output linear = LinearLogits(args, wide, head.logits_dimension());
      SummarizeLayer("linear", linear);
      wide_logits = linear;
    }
    if (has_wide && has_deep) {
      logits = OpBuilder("AddV2").Input(logits).Input(wide_logits).Name("add").Build();
    } else if (has_wide) {
      logits = wide_logits;
    }
    return head.Spec(args, logits, [&](Output loss) {
      std::vector<Operation> updates;
      if (has_deep) {
        updates.push_back(deep_optimizer.Minimize(loss, {.variables = TrainableIn("dnn/")}));
      }
      if (has_wide) {
        updates.push_back(wide_optimizer.Minimize(loss, {.variables = TrainableIn("linear/")}));
      }
      const Variable step = train::GetOrCreateGlobalStep();
      const ControlDependencies after(updates);
      return Operation(step.AssignAdd(Const(Tensor(int64_t{1}))));
    });
  };
}

ModelFn BaselineModelFn(const OptimizerChoice& optimizer, const heads::Head& head) {
  const train::Optimizer made = optimizer.Make(0.3);
  return [=](const ModelFnArgs& args) {
    const int64_t units = head.logits_dimension();
    Output logits;
    {
      const VariableScope scope("baseline");
      const Variable bias =
          GetVariable("bias", {.shape = {units}, .initializer = initializers::Zeros()});
      const Output shape = Concat({BatchSize(args.features), ConstInts({units})}, 0);
      logits = bias * Fill(shape, Const(Tensor(1.0f)));
      logits = EnsureShape(logits, PartialShape({-1, units}));
    }
    return head.Spec(args, logits, made);
  };
}

}  // namespace sextant
