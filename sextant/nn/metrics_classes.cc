// Measures over the classes of a classification.
#include "sextant/nn/metric_state.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/matrix_diag.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/segment.h"
#include "sextant/ops/math/select.h"

namespace sextant::metrics {
namespace {

Output Flat(Output x, DType dtype) {
  x = Reshape(x, {-1});
  return x.dtype() == dtype ? x : Cast(x, dtype);
}

Output Int32(int64_t value) { return Const(Tensor(static_cast<int32_t>(value))); }

Output IouOf(Output matrix) {
  const Output rows = Cast(Sum(matrix, 0), DType::kFloat);
  const Output columns = Cast(Sum(matrix, 1), DType::kFloat);
  const Output hits = Cast(DiagPart(matrix), DType::kFloat);
  const Output either = rows + columns - hits;
  const Output zero = ScalarLike(0, either);
  const Output classes = Sum(Cast(NotEqual(either, zero), DType::kFloat), 0);
  const Output iou = hits / Select(Greater(either, ZerosLike(either)), either, OnesLike(either));
  // Classes that never occurred do not count.
  return Select(Greater(classes, zero), Sum(iou, 0) / classes, zero);
}

}  // namespace

Metric MeanPerClassAccuracy(Output labels, Output predictions, int64_t num_classes,
                            const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "mean_accuracy" : options.name);
  const Variable total = State("total", {num_classes}), count = State("count", {num_classes});
  const Output classes = Flat(labels, DType::kInt64);
  Output right = Cast(Equal(Flat(predictions, DType::kInt64), classes), DType::kFloat);
  Output ones = OnesLike(right);
  if (options.weights) {
    const Output weights = Flat(options.weights, DType::kFloat);
    right = right * weights;
    ones = weights;
  }
  Metric metric;
  metric.value = Mean(Quotient(count.value(), total.value()), 0);
  const Output new_total = total.AssignAdd(UnsortedSegmentSum(ones, classes, Int32(num_classes)));
  const Output new_count = count.AssignAdd(UnsortedSegmentSum(right, classes, Int32(num_classes)));
  metric.update = Quotient(new_count, new_total);
  return metric;
}

Metric MeanIou(Output labels, Output predictions, int64_t num_classes,
               const MetricOptions& options) {
  const NameScope scope(options.name.empty() ? "mean_iou" : options.name);
  const Variable matrix =
      State("total_confusion_matrix", {num_classes, num_classes}, DType::kDouble);
  const Output cell = Flat(labels, DType::kInt64) * static_cast<double>(num_classes) +
                      Flat(predictions, DType::kInt64);
  const Output amounts = options.weights ? Flat(options.weights, DType::kDouble)
                                         : Cast(OnesLike(cell), DType::kDouble);
  const Output batch = Reshape(UnsortedSegmentSum(amounts, cell, Int32(num_classes * num_classes)),
                               {num_classes, num_classes});
  Metric metric;
  metric.value = IouOf(matrix.value());
  metric.update = matrix.AssignAdd(batch);
  return metric;
}

}  // namespace sextant::metrics
