#include <numeric>

#include "sextant/base/error.h"
#include "sextant/graph/replica.h"
#include "sextant/graph/update_mark.h"
#include "sextant/nn/layer_variables.h"
#include "sextant/nn/layers.h"
#include "sextant/nn/partition_scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/batch_norm.h"
#include "sextant/ops/nn/moments.h"

namespace sextant::layers {
namespace {

// moving -= (moving - batch) * (1 - momentum), among the graph's update ops.
// Replicas move it once, to the mean of their batches.
void Follow(const Variable& moving, Output batch, float momentum) {
  const std::function<Operation(const std::vector<Output>&)> follow = [&](const auto& batches) {
    const NameScope scope("AssignMovingAvg");
    const Output mean =
        batches.size() == 1 ? batches[0] : AddN(batches) / static_cast<double>(batches.size());
    Graph& graph = moving.handle().graph();
    const int first = graph.num_nodes();
    const Output step = (moving - mean) * (1.0 - static_cast<double>(momentum));
    const Operation moved =
        OpBuilder("AssignSubVariableOp").Input(moving.handle()).Input(step).BuildOperation();
    MarkUpdatesSince(graph, first);
    return moved;
  };
  Replica* replica = Replica::Current();
  const Operation update =
      replica ? replica->Merge("the update of " + moving.name(), batch, follow) : follow({batch});
  moving.handle().graph().AddToCollection(kUpdateOps, Output(update.node(), 0));
}

struct NormVariables {
  Output gamma, beta;
  Variable moving_mean, moving_variance;
};

NormVariables MakeVariables(int64_t channels, DType dtype, const BatchNormOptions& options) {
  const auto or_default = [](const Initializer& given, const Initializer& otherwise) {
    return given ? given : otherwise;
  };
  const Shape shape{channels};
  NormVariables v;
  if (options.scale) {
    v.gamma = GetWeights(
        "gamma", {.shape = shape,
                  .dtype = dtype,
                  .initializer = or_default(options.gamma_initializer, initializers::Ones()),
                  .trainable = options.trainable});
  }
  if (options.center) {
    v.beta = GetWeights("beta",
                        {.shape = shape,
                         .dtype = dtype,
                         .initializer = or_default(options.beta_initializer, initializers::Zeros()),
                         .trainable = options.trainable});
  }
  v.moving_mean = GetVariable(
      "moving_mean",
      {.shape = shape,
       .dtype = dtype,
       .initializer = or_default(options.moving_mean_initializer, initializers::Zeros()),
       .trainable = false});
  v.moving_variance = GetVariable(
      "moving_variance",
      {.shape = shape,
       .dtype = dtype,
       .initializer = or_default(options.moving_variance_initializer, initializers::Ones()),
       .trainable = false});
  return v;
}

// Normalises images: [batch, height, width, channels] or channels first.
Output Fused(Output x, const NormVariables& v, int64_t channels, const BatchNormOptions& options) {
  const Output gamma = v.gamma ? v.gamma : Ones(Shape{channels}, x.dtype());
  const Output beta = v.beta ? v.beta : Zeros(Shape{channels}, x.dtype());
  if (!options.training) {
    return FusedBatchNorm(x, gamma, beta, v.moving_mean, v.moving_variance,
                          {.epsilon = options.epsilon,
                           .data_format = options.data_format,
                           .is_training = false})
        .y;
  }
  const Output none = Const(Tensor(DType::kFloat, Shape{0}));
  const FusedBatchNormResult result = FusedBatchNorm(
      x, gamma, beta, none, none, {.epsilon = options.epsilon, .data_format = options.data_format});
  Follow(v.moving_mean, result.batch_mean, options.momentum);
  Follow(v.moving_variance, result.batch_variance, options.momentum);
  return result.y;
}

}  // namespace

Output BatchNorm(Output x, const BatchNormOptions& options) {
  const PartialShape& shape = x.shape();
  if (!shape.rank_known() || shape.rank() < 2) {
    throw InvalidArgument(
        "BatchNorm: its input {} needs a known rank of at least 2, the shape is {}", x.name(),
        shape.ToString());
  }
  const bool image = shape.rank() == 4;
  const int axis = image && options.data_format == "NCHW" ? 1 : shape.rank() - 1;
  const int64_t channels = KnownDim(x, axis, "BatchNorm");
  const LayerScope scope(options.name, "batch_normalization");
  const NormVariables v = MakeVariables(channels, x.dtype(), options);
  if (image) return Fused(x, v, channels, options);

  Output mean = v.moving_mean, variance = v.moving_variance;
  if (options.training) {
    std::vector<int64_t> axes(shape.rank() - 1);
    std::iota(axes.begin(), axes.end(), 0);
    const MomentsResult moments = Moments(x, axes);
    mean = moments.mean;
    variance = moments.variance;
    Follow(v.moving_mean, mean, options.momentum);
    Follow(v.moving_variance, variance, options.momentum);
  }
  Output factor = Rsqrt(variance + static_cast<double>(options.epsilon));
  if (v.gamma) factor = factor * v.gamma;
  const Output shift = v.beta ? v.beta - mean * factor : Neg(mean * factor);
  return x * factor + shift;
}

Output LayerNorm(Output x, const LayerNormOptions& options) {
  const int64_t channels = KnownDim(x, -1, "LayerNorm");
  const LayerScope scope(options.name, "layer_normalization");
  const MomentsResult moments = Moments(x, x.shape().rank() - 1, {.keep_dims = true});
  Output y = (x - moments.mean) * Rsqrt(moments.variance + static_cast<double>(options.epsilon));
  if (options.scale) {
    y = y *
        GetVariable("gamma",
                    {.shape = {channels}, .dtype = x.dtype(), .initializer = initializers::Ones()});
  }
  if (options.center) {
    y = y + GetVariable(
                "beta",
                {.shape = {channels}, .dtype = x.dtype(), .initializer = initializers::Zeros()});
  }
  return y;
}

}  // namespace sextant::layers
