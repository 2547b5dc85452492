// Streaming metrics, with TensorFlow's state and names: metrics::Accuracy makes the local variables
// "accuracy/total" and "accuracy/count". Weights broadcast to the values; an empty Output is 1.
//
//   Metric accuracy = metrics::Accuracy(labels, classes);
//   session.Run(VariablesInitializer(CollectedVariables(kLocalVariables)));
//   for each batch: session.Run(feeds, accuracy.update);
//   session.Run(accuracy.value)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/metric.h"

#pragma GCC visibility push(default)

namespace sextant::metrics {

inline constexpr const char* kMetricVariables = "metric_variables";

struct SEXTANT_API MetricOptions {
  Output weights = {};
  std::string name = {};  // default: the metric's
};

Metric Mean(Output values, const MetricOptions& options = {});
// The share of predictions that equal the labels.
Metric Accuracy(Output labels, Output predictions, const MetricOptions& options = {});
Metric MeanAbsoluteError(Output labels, Output predictions, const MetricOptions& options = {});
Metric MeanSquaredError(Output labels, Output predictions, const MetricOptions& options = {});
Metric RootMeanSquaredError(Output labels, Output predictions, const MetricOptions& options = {});
// The share of values below the threshold.
Metric PercentageBelow(Output values, float threshold, const MetricOptions& options = {});
// The share of rows whose label is among the k highest predictions.
Metric TopKAccuracy(Output labels, Output predictions, int64_t k,
                    const MetricOptions& options = {});

// Of labels and predictions taken as booleans.
Metric TruePositives(Output labels, Output predictions, const MetricOptions& options = {});
Metric TrueNegatives(Output labels, Output predictions, const MetricOptions& options = {});
Metric FalsePositives(Output labels, Output predictions, const MetricOptions& options = {});
Metric FalseNegatives(Output labels, Output predictions, const MetricOptions& options = {});
Metric Precision(Output labels, Output predictions, const MetricOptions& options = {});
Metric Recall(Output labels, Output predictions, const MetricOptions& options = {});

// Of predictions in [0, 1], at each threshold: a vector.
Metric PrecisionAtThresholds(Output labels, Output predictions,
                             const std::vector<float>& thresholds,
                             const MetricOptions& options = {});
Metric RecallAtThresholds(Output labels, Output predictions, const std::vector<float>& thresholds,
                          const MetricOptions& options = {});

struct SEXTANT_API AucOptions {
  Output weights = {};
  int num_thresholds = 200;
  std::string curve = "ROC";                     // or "PR"
  std::string summation_method = "trapezoidal";  // careful_interpolation, minoring, majoring
  std::string name = {};
};
Metric Auc(Output labels, Output predictions, const AucOptions& options = {});

// The mean over the classes of the share of each that is predicted right.
Metric MeanPerClassAccuracy(Output labels, Output predictions, int64_t num_classes,
                            const MetricOptions& options = {});
// The mean over the classes of intersection / union.
Metric MeanIou(Output labels, Output predictions, int64_t num_classes,
               const MetricOptions& options = {});

}  // namespace sextant::metrics

#pragma GCC visibility pop
