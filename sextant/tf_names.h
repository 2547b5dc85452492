// TensorFlow 1's Python names where ours differ, so that a ported line is found at the first guess:
// tf.reduce_max(x) is ReduceMax(x), tf.layers.max_pooling2d is layers::MaxPooling2D,
// tf.train.AdamOptimizer is train::AdamOptimizer. Functions of tf.*, tf.nn.* and tf.math.* are in
// namespace sextant; layers, losses, metrics, train and summary are namespaces of their own, as in
// Python. Names that differ only in case (tf.matmul, MatMul) are not repeated, but for acronyms.
#pragma once

#include <vector>

#include "sextant/formats/checkpoint_state.h"
#include "sextant/nn/layers.h"
#include "sextant/nn/losses.h"
#include "sextant/nn/metrics.h"
#include "sextant/nn/rnn.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/array/broadcast_to.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/where.h"
#include "sextant/ops/image/image.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/arg_reduce.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/clip.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/matrix_diag.h"
#include "sextant/ops/math/range.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/conv.h"
#include "sextant/ops/nn/cross_entropy.h"
#include "sextant/ops/nn/lrn.h"
#include "sextant/ops/nn/pool.h"
#include "sextant/ops/state/variable.h"
#include "sextant/train/hooks.h"
#include "sextant/train/monitored_session.h"
#include "sextant/train/moving_average.h"
#include "sextant/train/optimizers.h"
#include "sextant/train/saver.h"

#pragma GCC visibility push(default)

namespace sextant {

// ---- tf.reduce_*: over all axes, or those given.
inline Output ReduceSum(Output x) { return Sum(x, AllAxes(x)); }
inline Output ReduceMean(Output x) { return Mean(x, AllAxes(x)); }
inline Output ReduceProd(Output x) { return Prod(x, AllAxes(x)); }
inline Output ReduceMax(Output x) { return Max(x, AllAxes(x)); }
inline Output ReduceMin(Output x) { return Min(x, AllAxes(x)); }
inline Output ReduceAll(Output x) { return All(x, AllAxes(x)); }
inline Output ReduceAny(Output x) { return Any(x, AllAxes(x)); }
inline Output ReduceSum(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  return Sum(x, axes, options);
}
inline Output ReduceMean(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  return Mean(x, axes, options);
}
inline Output ReduceProd(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  return Prod(x, axes, options);
}
inline Output ReduceMax(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  return Max(x, axes, options);
}
inline Output ReduceMin(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  return Min(x, axes, options);
}
inline Output ReduceAll(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  return All(x, axes, options);
}
inline Output ReduceAny(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  return Any(x, axes, options);
}
// log(sum(exp(x))) along the axes, without overflow.
inline Output ReduceLogsumexp(Output x, const IndexArg& axes, const ReduceOptions& options = {}) {
  const Output largest = Max(x, axes, {.keep_dims = true});
  const Output finite = SelectV2(IsFinite(largest), largest, ZerosLike(largest));
  const Output logs = Log(Sum(Exp(x - finite), axes, {.keep_dims = true})) + finite;
  return options.keep_dims ? logs : Sum(logs, axes);
}
inline Output ReduceLogsumexp(Output x) { return ReduceLogsumexp(x, AllAxes(x)); }
// The number of elements that are not zero.
inline Output CountNonzero(Output x, DType dtype = DType::kInt64) {
  return ReduceSum(Cast(NotEqual(x, ZerosLike(x)), dtype));
}

// ---- tf.*: arithmetic and arrays.
inline Output Negative(Output x) { return Neg(x); }
inline Output Subtract(Output x, Output y) { return Sub(x, y); }
inline Output Subtract(Output x, ScalarOperand y) { return Sub(x, y); }
inline Output Subtract(ScalarOperand x, Output y) { return Sub(x, y); }
inline Output Multiply(Output x, Output y) { return Mul(x, y); }
inline Output Multiply(Output x, ScalarOperand y) { return Mul(x, y); }
inline Output Multiply(ScalarOperand x, Output y) { return Mul(x, y); }
inline Output ScalarMul(ScalarOperand x, Output y) { return Mul(x, y); }
inline Output Divide(Output x, Output y) { return x / y; }
inline Output Divide(Output x, ScalarOperand y) { return x / y; }
inline Output Divide(ScalarOperand x, Output y) { return x / y; }
inline Output Matmul(Output a, Output b, const MatMulOptions& options = {}) {
  return MatMul(a, b, options);
}
inline Output Argmax(Output x, const IndexArg& axis = 0) { return ArgMax(x, axis); }
inline Output Argmin(Output x, const IndexArg& axis = 0) { return ArgMin(x, axis); }
inline Output ToFloat(Output x) { return Cast(x, DType::kFloat); }
inline Output ToDouble(Output x) { return Cast(x, DType::kDouble); }
inline Output ToInt32(Output x) { return Cast(x, DType::kInt32); }
inline Output ToInt64(Output x) { return Cast(x, DType::kInt64); }
inline Output Linspace(Output start, Output stop, Output num) { return LinSpace(start, stop, num); }
// tf.shape, whose name is that of a type here.
inline Output GetShape(Output x, DType out_type = DType::kInt32) { return ShapeOf(x, out_type); }
// tf.where with two alternatives.
inline Output Where(Output condition, Output x, Output y) { return SelectV2(condition, x, y); }
// The rows of x whose mask, a bool vector, is true.
inline Output BooleanMask(Output x, Output mask) { return Gather(x, Squeeze(Where(mask), {1})); }
// mask[..., j] = j < lengths[...], for j below "max_length".
inline Output SequenceMask(Output lengths, int64_t max_length, DType dtype = DType::kBool) {
  const Output columns =
      Range(ScalarLike(0, lengths), ScalarLike(max_length, lengths), ScalarLike(1, lengths));
  return Cast(Less(columns, ExpandDims(lengths, -1)), dtype);
}
// The identity matrix.
inline Output Eye(int64_t rows, DType dtype = DType::kFloat) { return Diag(Ones({rows}, dtype)); }
// Bounds as numbers.
inline Output ClipByValue(Output x, ScalarOperand min, ScalarOperand max) {
  return ClipByValue(x, ScalarLike(min, x), ScalarLike(max, x));
}

// ---- Variables by collection.
inline std::vector<Variable> GlobalVariables() { return CollectedVariables(); }
inline std::vector<Variable> LocalVariables() { return CollectedVariables(kLocalVariables); }
inline std::vector<Variable> TrainableVariables() {
  return CollectedVariables(kTrainableVariables);
}
inline Operation LocalVariablesInitializer() { return VariablesInitializer(LocalVariables()); }

// ---- tf.nn.*
inline Output EmbeddingLookup(Output table, Output ids) { return Gather(table, ids); }
inline Output LocalResponseNormalization(Output x, const LrnOptions& options = {}) {
  return LRN(x, options);
}
// The loss alone. The logits come first, as in the ops; Python names both.
inline Output SoftmaxCrossEntropyWithLogitsV2(Output logits, Output labels) {
  return SoftmaxCrossEntropyWithLogits(logits, labels).loss;
}
inline Output SigmoidCrossEntropyWithLogits(Output logits, Output labels) {
  return losses::SigmoidCrossEntropyWithLogits(logits, labels);
}
inline Output LogSigmoid(Output x) { return -Softplus(-x); }
inline Output XwPlusB(Output x, Output weights, Output biases) {
  return MatMul(x, weights) + biases;
}
// The share of elements that are zero.
inline Output ZeroFraction(Output x) {
  return ReduceMean(Cast(Equal(x, ZerosLike(x)), DType::kFloat));
}

// ---- tf.image.*
inline Output ResizeImageWithCropOrPad(Output image, int64_t height, int64_t width) {
  return ResizeWithCropOrPad(image, height, width);
}

// ---- tf.layers.*, tf.contrib.layers.*
namespace layers {

inline Output MaxPooling1D(Output x, const Pool1DOptions& options = {}) {
  return MaxPool1D(x, options);
}
inline Output MaxPooling2D(Output x, const Pool2DOptions& options = {}) {
  return MaxPool2D(x, options);
}
inline Output AveragePooling1D(Output x, const Pool1DOptions& options = {}) {
  return AveragePool1D(x, options);
}
inline Output AveragePooling2D(Output x, const Pool2DOptions& options = {}) {
  return AveragePool2D(x, options);
}
inline Output BatchNormalization(Output x, const BatchNormOptions& options = {}) {
  return BatchNorm(x, options);
}
inline Output FullyConnected(Output x, const DenseOptions& options) { return Dense(x, options); }
// [batch, time] ids to [batch, time, embed_dim] rows of a table of vocab_size rows.
inline Output EmbedSequence(Output ids, int64_t vocab_size, int64_t embed_dim) {
  return Embedding(ids, {.rows = vocab_size, .columns = embed_dim});
}

}  // namespace layers

// ---- tf.losses.*
namespace losses {

inline Output GetTotalLoss(bool add_regularization_losses = true) {
  return TotalLoss(add_regularization_losses);
}
inline Output GetRegularizationLoss() { return RegularizationLoss(); }

}  // namespace losses

// ---- tf.metrics.*
namespace metrics {

inline Metric AUC(Output labels, Output predictions, const AucOptions& options = {}) {
  return Auc(labels, predictions, options);
}
inline Metric MeanIoU(Output labels, Output predictions, int64_t num_classes,
                      const MetricOptions& options = {}) {
  return MeanIou(labels, predictions, num_classes, options);
}
inline Metric PercentageLess(Output values, float threshold, const MetricOptions& options = {}) {
  return PercentageBelow(values, threshold, options);
}

}  // namespace metrics

// ---- tf.nn.rnn_cell.*, tf.nn.dynamic_rnn, tf.nn.static_rnn
namespace rnn {

inline CellRef GRUCell(const GruCellOptions& options) { return GruCell(options); }
inline CellRef BasicLSTMCell(const LstmCellOptions& options) { return BasicLstmCell(options); }
inline CellRef BasicRNNCell(const BasicRnnCellOptions& options) { return BasicRnnCell(options); }
inline CellRef MultiRNNCell(std::vector<CellRef> cells) { return MultiRnnCell(std::move(cells)); }
using LSTMStateTuple = LstmState;

}  // namespace rnn

// ---- tf.summary.*
namespace summary = summaries;

// ---- tf.train.*
namespace train {

inline Optimizer GradientDescentOptimizer(const LearningRate& learning_rate) {
  return GradientDescent({.learning_rate = learning_rate});
}
inline Optimizer MomentumOptimizer(const MomentumOptions& options) { return Momentum(options); }
inline Optimizer AdamOptimizer(const AdamOptions& options = {}) { return Adam(options); }
inline Optimizer AdagradOptimizer(const AdagradOptions& options = {}) { return Adagrad(options); }
inline Optimizer AdadeltaOptimizer(const AdadeltaOptions& options = {}) {
  return Adadelta(options);
}
inline Optimizer RMSPropOptimizer(const RmsPropOptions& options = {}) { return RmsProp(options); }
inline Optimizer FtrlOptimizer(const FtrlOptions& options = {}) { return Ftrl(options); }
inline Optimizer ProximalAdagradOptimizer(const ProximalAdagradOptions& options = {}) {
  return ProximalAdagrad(options);
}
using ExponentialMovingAverage = MovingAverage;
using MonitoredTrainingSession = MonitoredSession;
using sextant::LatestCheckpoint;
using sextant::Saver;
inline HookRef StopAtStepHook(int64_t last_step) { return StopAtStep(last_step); }
inline HookRef NanTensorHook(Output loss) { return StopOnNan(loss); }
inline HookRef LoggingTensorHook(std::vector<std::pair<std::string, Output>> tensors,
                                 Every every = {.steps = 100}) {
  return LogTensors(std::move(tensors), every);
}

}  // namespace train

}  // namespace sextant

#pragma GCC visibility pop
