// Averages.
#include "sextant/base/error.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metric_state.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/in_top_k.h"

namespace sextant::metrics {

Variable State(std::string_view name, const Shape& shape, DType dtype) {
  return Variable(name, [&] { return Zeros(shape, dtype); },
                  {.trainable = false, .collections = {kLocalVariables, kMetricVariables}});
}

Output Quotient(Output a, Output b) { return DivNoNan(a, b); }

Output BroadcastWeights(Output weights, Output values) {
  if (!weights) return {};
  Output w = weights.dtype() == DType::kFloat ? weights : Cast(weights, DType::kFloat);
  // A last dimension of 1 more or less than the values have is taken off or put on.
  if (w.shape().rank_known() && values.shape().rank_known() && w.shape().rank() > 0) {
    const int difference = w.shape().rank() - values.shape().rank();
    if (difference == 1) w = Squeeze(w, {w.shape().rank() - 1});
    if (difference == -1) w = ExpandDims(w, -1);
  }
  return w * OnesLike(values);
}

Metric Average(Output values, Output weights) {
  if (values.dtype() != DType::kFloat) values = Cast(values, DType::kFloat);
  const Variable total = State("total"), count = State("count");
  Output number;
  if (const Output w = BroadcastWeights(weights, values)) {
    values = values * w;
    number = SumOfAll(w);
  } else {
    number = Cast(Size(values), DType::kFloat);
  }
  Metric metric;
  metric.value = Quotient(total.value(), count.value());
  const Output new_total = total.AssignAdd(SumOfAll(values));
  // The number may be known before the values are: without them, at the end of the data, it does
  // not count.
  const ControlDependencies after({Operation(values.node())});
  const Output new_count = count.AssignAdd(number);
  metric.update = Quotient(new_total, new_count);
  return metric;
}

Metric Mean(Output values, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "mean" : options.name);
  return Average(values, options.weights);
}

Metric Accuracy(Output labels, Output predictions, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "accuracy" : options.name);
  if (predictions.dtype() != labels.dtype()) predictions = Cast(predictions, labels.dtype());
  return Average(Equal(labels, predictions), options.weights);
}

Metric MeanAbsoluteError(Output labels, Output predictions, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "mean_absolute_error" : options.name);
  return Average(Abs(predictions - labels), options.weights);
}

Metric MeanSquaredError(Output labels, Output predictions, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "mean_squared_error" : options.name);
  return Average(Square(labels - predictions), options.weights);
}

Metric RootMeanSquaredError(Output labels, Output predictions, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "root_mean_squared_error" : options.name);
  Metric metric = Average(Square(labels - predictions), options.weights);
  metric.value = Sqrt(metric.value);
  metric.update = Sqrt(metric.update);
  return metric;
}

Metric PercentageBelow(Output values, float threshold, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "percentage_below_threshold" : options.name);
  return Average(Less(values, ScalarLike(threshold, values)), options.weights);
}

Metric TopKAccuracy(Output labels, Output predictions, int64_t k, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "top_k_accuracy" : options.name);
  return Average(InTopK(predictions, labels, Cast(Const(Tensor(k)), labels.dtype())),
                 options.weights);
}

}  // namespace sextant::metrics
