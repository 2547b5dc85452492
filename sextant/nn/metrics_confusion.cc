// Counts of right and wrong decisions, and what is computed from them.
#include "sextant/base/error.h"
#include "sextant/nn/metric_state.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/unary.h"

namespace sextant::metrics {
namespace {

struct Count {
  Output value, update;
};

Output AsBool(Output x) { return x.dtype() == DType::kBool ? x : Cast(x, DType::kBool); }

// The number of rows where "counted" holds, by weight, in the variable "<scope>/count".
Count CountWhere(const char* scope_name, Output counted, Output weights) {
  const NameScope scope(scope_name);
  const Variable count = State("count");
  Output values = Cast(counted, DType::kFloat);
  if (const Output w = BroadcastWeights(weights, values)) values = values * w;
  Count result;
  result.value = count.value();
  result.update = count.AssignAdd(SumOfAll(values));
  return result;
}

// As CountWhere, for a metric that is nothing but the count.
Metric CountMetric(const MetricOptions& options, const char* name, Output counted) {
  const Count count =
      CountWhere(options.name.empty() ? name : options.name.c_str(), counted, options.weights);
  return {count.value, count.update};
}

// a / (a + b), 0 while there is nothing.
Output Share(Output a, Output b) {
  const Output sum = a + b;
  return Select(Greater(sum, ScalarLike(0, sum)), a / sum, ZerosLike(a));
}

// Counts at many thresholds: what each of tp, fn, tn, fp is before and after the batch.
class ThresholdCounts {
 public:
  ThresholdCounts(Output labels, Output predictions, const std::vector<float>& thresholds,
                  Output weights)
      : size_(static_cast<int64_t>(thresholds.size())) {
    const Output flat = Reshape(predictions, {1, -1});
    const Output limits = Const(Tensor::FromSpan<float>(Shape{size_, 1}, thresholds));
    positive_ = Greater(Cast(flat, DType::kFloat), limits);
    label_ = Reshape(AsBool(labels), {1, -1});
    if (const Output w = BroadcastWeights(weights, predictions)) weights_ = Reshape(w, {1, -1});
  }

  Count TruePositives() { return Add("true_positives", LogicalAnd(label_, positive_)); }
  Count FalseNegatives() {
    return Add("false_negatives", LogicalAnd(label_, LogicalNot(positive_)));
  }
  Count TrueNegatives() {
    return Add("true_negatives", LogicalAnd(LogicalNot(label_), LogicalNot(positive_)));
  }
  Count FalsePositives() {
    return Add("false_positives", LogicalAnd(LogicalNot(label_), positive_));
  }

 private:
  Count Add(const char* name, Output counted) {
    const Variable count = State(name, {size_});
    Output values = Cast(counted, DType::kFloat);
    if (weights_) values = values * weights_;
    Count result;
    result.value = count.value();
    result.update = count.AssignAdd(Sum(values, 1));
    return result;
  }

  const int64_t size_;
  Output positive_, label_, weights_;
};

// a / (a + b) without a division by zero.
Output SafeShare(Output a, Output b, double epsilon) { return a / (a + b + epsilon); }

Output First(Output x, int64_t n) { return Slice(x, {0}, {n - 1}); }
Output Rest(Output x, int64_t n) { return Slice(x, {1}, {n - 1}); }

struct CurveCounts {
  Output tp, fn, tn, fp;
};

// The area under the precision-recall curve with precision interpolated between thresholds as Davis
// and Goadrich found it to be.
Output InterpolatedArea(const CurveCounts& c, int64_t n) {
  const Output dtp = First(c.tp, n) - Rest(c.tp, n);
  const Output p = c.tp + c.fp;
  const Output dp = First(p, n) - Rest(p, n);
  const Output zero = ScalarLike(0, dp);
  const Output slope = Quotient(dtp, Maximum(dp, zero));
  const Output intercept = Rest(c.tp, n) - slope * Rest(p, n);
  const Output both = LogicalAnd(Greater(First(p, n), zero), Greater(Rest(p, n), zero));
  const Output ratio =
      Select(both, Quotient(First(p, n), Maximum(Rest(p, n), zero)), OnesLike(Rest(p, n)));
  return Sum(Quotient(slope * (dtp + intercept * Log(ratio)),
                      Maximum(Rest(c.tp, n) + Rest(c.fn, n), zero)),
             0);
}

Output Area(const CurveCounts& c, int64_t n, const AucOptions& options) {
  const bool roc = options.curve == "ROC";
  if (!roc && options.summation_method == "careful_interpolation") return InterpolatedArea(c, n);
  constexpr double kEpsilon = 1e-6;
  const Output recall = (c.tp + kEpsilon) / (c.tp + c.fn + kEpsilon);
  const Output x = roc ? SafeShare(c.fp, c.tn, kEpsilon) : recall;
  const Output y = roc ? recall : (c.tp + kEpsilon) / (c.tp + c.fp + kEpsilon);
  const Output widths = First(x, n) - Rest(x, n);
  Output heights;
  if (options.summation_method == "minoring") {
    heights = Minimum(First(y, n), Rest(y, n));
  } else if (options.summation_method == "majoring") {
    heights = Maximum(First(y, n), Rest(y, n));
  } else {
    heights = (First(y, n) + Rest(y, n)) / 2.0;
  }
  return Sum(widths * heights, 0);
}

}  // namespace

Metric TruePositives(Output labels, Output predictions, const MetricOptions& options) {
  return CountMetric(options, "true_positives", LogicalAnd(AsBool(labels), AsBool(predictions)));
}
Metric TrueNegatives(Output labels, Output predictions, const MetricOptions& options) {
  return CountMetric(options, "true_negatives",
                     LogicalAnd(LogicalNot(AsBool(labels)), LogicalNot(AsBool(predictions))));
}
Metric FalsePositives(Output labels, Output predictions, const MetricOptions& options) {
  return CountMetric(options, "false_positives",
                     LogicalAnd(LogicalNot(AsBool(labels)), AsBool(predictions)));
}
Metric FalseNegatives(Output labels, Output predictions, const MetricOptions& options) {
  return CountMetric(options, "false_negatives",
                     LogicalAnd(AsBool(labels), LogicalNot(AsBool(predictions))));
}

Metric Precision(Output labels, Output predictions, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "precision" : options.name);
  const Metric tp = TruePositives(labels, predictions, {.weights = options.weights});
  const Metric fp = FalsePositives(labels, predictions, {.weights = options.weights});
  return {Share(tp.value, fp.value), Share(tp.update, fp.update)};
}

Metric Recall(Output labels, Output predictions, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "recall" : options.name);
  const Metric tp = TruePositives(labels, predictions, {.weights = options.weights});
  const Metric fn = FalseNegatives(labels, predictions, {.weights = options.weights});
  return {Share(tp.value, fn.value), Share(tp.update, fn.update)};
}

Metric PrecisionAtThresholds(Output labels, Output predictions,
                             const std::vector<float>& thresholds, const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "precision_at_thresholds" : options.name);
  ThresholdCounts counts(labels, predictions, thresholds, options.weights);
  const Count tp = counts.TruePositives(), fp = counts.FalsePositives();
  return {SafeShare(tp.value, fp.value, 1e-7), SafeShare(tp.update, fp.update, 1e-7)};
}

Metric RecallAtThresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                          const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "recall_at_thresholds" : options.name);
  ThresholdCounts counts(labels, predictions, thresholds, options.weights);
  const Count tp = counts.TruePositives(), fn = counts.FalseNegatives();
  return {SafeShare(tp.value, fn.value, 1e-7), SafeShare(tp.update, fn.update, 1e-7)};
}

Metric Auc(Output labels, Output predictions, const AucOptions& options) {
  if (options.curve != "ROC" && options.curve != "PR") {
    throw InvalidArgument("auc: curve '{}' is neither ROC nor PR", options.curve);
  }
  if (options.num_thresholds < 2) {
    throw InvalidArgument("auc: {} thresholds are too few, 2 is the least", options.num_thresholds);
  }
  const std::string& method = options.summation_method;
  if (method != "trapezoidal" && method != "careful_interpolation" && method != "minoring" &&
      method != "majoring") {
    throw InvalidArgument(
        "auc: summation_method '{}' is not trapezoidal, careful_interpolation, minoring or "
        "majoring",
        method);
  }
  const NameScope scope(options.name.empty() ? "auc" : options.name);
  const int n = options.num_thresholds;
  std::vector<float> thresholds = {-1e-7f};
  for (int i = 1; i < n - 1; ++i) {
    thresholds.push_back(static_cast<float>(i * 1.0 / (n - 1)));
  }
  thresholds.push_back(1.0f + 1e-7f);
  ThresholdCounts counts(labels, predictions, thresholds, options.weights);
  const Count tp = counts.TruePositives(), fn = counts.FalseNegatives();
  const Count tn = counts.TrueNegatives(), fp = counts.FalsePositives();
  return {Area({tp.value, fn.value, tn.value, fp.value}, n, options),
          Area({tp.update, fn.update, tn.update, fp.update}, n, options)};
}

}  // namespace sextant::metrics
