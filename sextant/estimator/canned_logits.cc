#include "sextant/estimator/canned_logits.h"

#include "sextant/base/error.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/partition_scope.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"

namespace sextant {
namespace {

constexpr int64_t kMinPartBytes = 64 << 20;

Output Zeros(Output values) {
  return SumOfAll(Cast(Equal(values, ScalarLike(0, values)), DType::kFloat));
}

Partitioner OrDefault(const Partitioner& partitioner, const RunConfig& config) {
  return partitioner ? partitioner : MinMaxPartitioner(config.task.num_ps, kMinPartBytes);
}

void SummarizeLinear(const columns::LinearModelResult& model, int64_t units) {
  if (units == 1) {
    summaries::Scalar("bias", Squeeze(model.bias));
  } else {
    summaries::Histogram("bias", model.bias);
  }
  std::vector<Output> zeros, sizes;
  for (const auto& [name, weights] : model.weights) {
    zeros.push_back(Zeros(weights));
    sizes.push_back(Cast(Size(weights), DType::kFloat));
  }
  summaries::Scalar("fraction_of_zero_weights", AddN(zeros) / AddN(sizes));
}

}  // namespace

void CheckLinear(const LinearModelFnOptions& options) {
  if (options.feature_columns.empty())
    throw InvalidArgument("a linear model needs feature_columns");
}

void CheckDNN(const DNNModelFnOptions& options) {
  if (options.feature_columns.empty()) throw InvalidArgument("a DNN needs feature_columns");
  if (options.hidden_units.empty()) throw InvalidArgument("a DNN needs hidden_units");
  for (const int64_t units : options.hidden_units) {
    if (units < 1) throw InvalidArgument("hidden_units must be positive, one is {}", units);
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    throw InvalidArgument("dropout must be in [0, 1), is {}", options.dropout);
  }
}

void SummarizeLayer(const std::string& tag, Output values) {
  const Output count = Cast(Size(values), DType::kFloat);
  summaries::Scalar(tag + "/fraction_of_zero_values", DivNoNan(Zeros(values), count));
  summaries::Histogram(tag + "/activation", values);
}

Output LinearLogits(const ModelFnArgs& args, const LinearModelFnOptions& options, int64_t units) {
  const columns::LinearModelResult model =
      columns::LinearModelParts(args.features, options.feature_columns,
                                {.units = units,
                                 .sparse_combiner = options.sparse_combiner,
                                 .partitioner = OrDefault(options.partitioner, args.config)});
  SummarizeLinear(model, units);
  return model.logits;
}

Output DNNLogits(const ModelFnArgs& args, const DNNModelFnOptions& options, int64_t units) {
  const bool training = args.mode == Mode::kTrain;
  const std::string scope = VariableScope::CurrentName();
  const PartitionScope parts(MinMaxPartitioner(args.config.task.num_ps));
  Output x;
  {
    const VariableScope inputs("input_from_feature_columns");
    x = columns::InputLayer(
        args.features, options.feature_columns,
        {.partitioner = OrDefault(options.input_layer_partitioner, args.config)});
  }
  const layers::Activation activation = options.activation ? options.activation : Relu;
  for (size_t i = 0; i < options.hidden_units.size(); ++i) {
    const std::string name = "hiddenlayer_" + std::to_string(i);
    x = layers::Dense(x,
                      {.units = options.hidden_units[i], .activation = activation, .name = name});
    x = layers::Dropout(x, {.rate = options.dropout, .training = training});
    if (options.batch_norm) {
      x = layers::BatchNorm(x, {.training = training,
                                .momentum = 0.999f,
                                .name = name + "/batchnorm_" + std::to_string(i)});
    }
    SummarizeLayer(scope + name, x);
  }
  const Output logits = layers::Dense(x, {.units = units, .name = "logits"});
  SummarizeLayer(scope + "logits", logits);
  return logits;
}

}  // namespace sextant
