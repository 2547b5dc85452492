#include "sextant/models/resnet_cifar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/pad.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/l2_loss.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/nn/cross_entropy.h"
#include "sextant/train/schedules.h"

namespace sextant::models {
namespace {

// "(?, 16, 32, 32)"
std::string TupleText(const PartialShape& shape) {
  std::vector<std::string> sizes;
  for (int i = 0; i < shape.rank(); ++i) {
    sizes.push_back(shape[i] < 0 ? "?" : std::to_string(shape[i]));
  }
  return fmt::format("({})", fmt::join(sizes, ", "));
}

class Network {
 public:
  Network(const ResnetCifarParams& params, bool training)
      : params_(params),
        activation_(params.activation ? params.activation : layers::Activation(Relu)),
        training_(training),
        channels_first_(params.data_format == "NCHW") {}

  Output Logits(Output x) {
    if (params_.scale_pixels) x = x / 128.0 - 1.0;
    if (channels_first_) x = Transpose(x, {0, 3, 1, 2});
    x = activation_(Norm(Conv(x, params_.widths.at(0), 1)));
    int64_t channels = params_.widths[0];
    for (size_t stage = 0; stage < params_.widths.size(); ++stage) {
      const NameScope scope("stage");
      for (int64_t unit = 0; unit < params_.units_per_stage; ++unit) {
        const int64_t stride = stage > 0 && unit == 0 ? 2 : 1;
        x = Unit(x, channels, params_.widths[stage], stride);
        channels = params_.widths[stage];
      }
    }
    return FullyConnected(GlobalAveragePool(x));
  }

 private:
  Output Logged(Output x, const NameScope& scope) const {
    if (params_.log_shapes) LogInfo("image after unit {}: {}", scope.name(), TupleText(x.shape()));
    return x;
  }

  Output GlobalAveragePool(Output x) const {
    const NameScope scope("global_avg_pool");
    return Logged(channels_first_ ? Mean(x, {2, 3}) : Mean(x, {1, 2}), scope);
  }

  Output FullyConnected(Output x) const {
    const NameScope scope("fully_connected");
    return Logged(layers::Dense(x, {.units = params_.classes}), scope);
  }

  Output Padded(Output x, int64_t before, int64_t after, bool channels) const {
    std::vector<std::pair<int64_t, int64_t>> margins(4, {0, 0});
    if (channels) {
      margins[channels_first_ ? 1 : 3] = {before, after};
    } else {
      const int height = channels_first_ ? 2 : 1;
      margins[height] = margins[height + 1] = {before, after};
    }
    return Pad(x, {{margins[0].first, margins[0].second},
                   {margins[1].first, margins[1].second},
                   {margins[2].first, margins[2].second},
                   {margins[3].first, margins[3].second}});
  }

  // Strided convolutions pad both sides alike, which "SAME" would not.
  Output Conv(Output x, int64_t filters, int64_t stride) const {
    if (stride > 1) x = Padded(x, 1, 1, false);
    return layers::Conv2D(x, {.filters = filters,
                              .kernel = 3,
                              .strides = stride,
                              .padding = stride > 1 ? "VALID" : "SAME",
                              .data_format = params_.data_format,
                              .use_bias = false});
  }

  Output Norm(Output x) {
    const int number = num_norms_++;
    const std::string& name = params_.batch_norm_name;
    return layers::BatchNorm(x, {.training = training_,
                                 .data_format = params_.data_format,
                                 .momentum = params_.batch_norm_decay,
                                 .epsilon = params_.batch_norm_epsilon,
                                 .name = number == 0 ? name : fmt::format("{}_{}", name, number)});
  }

  Output AveragePool(Output x, int64_t stride) const {
    const NameScope scope("avg_pool");
    return Logged(layers::AveragePool2D(x, {.pool = stride,
                                            .strides = stride,
                                            .padding = "SAME",
                                            .data_format = params_.data_format}),
                  scope);
  }

  // The shortcut is the identity; where the width changes, average pooling and channels of zeros.
  Output Unit(Output x, int64_t in, int64_t out, int64_t stride) {
    const NameScope scope("residual_v1");
    Output y = activation_(Norm(Conv(x, out, stride)));
    y = Norm(Conv(y, out, 1));
    if (in != out) {
      if (stride > 1) x = AveragePool(x, stride);
      const int64_t before = (out - in) / 2;
      x = Padded(x, before, out - in - before, true);
    }
    return Logged(activation_(y + x), scope);
  }

  const ResnetCifarParams& params_;
  const layers::Activation activation_;
  const bool training_;
  const bool channels_first_;
  int num_norms_ = 0;
};

}  // namespace

int64_t UnitsPerStage(int64_t layers) {
  if (layers < 8 || (layers - 2) % 6 != 0) {
    throw InvalidArgument("a ResNet for CIFAR has 6 n + 2 layers, {} is none of these", layers);
  }
  if (layers > kMostResnetCifarLayers) {
    throw InvalidArgument("a ResNet for CIFAR has at most {} layers, not {}",
                          kMostResnetCifarLayers, layers);
  }
  return (layers - 2) / 6;
}

Output ResnetCifarLogits(Output images, const ResnetCifarParams& params, bool training) {
  if (params.widths.empty()) throw InvalidArgument("ResnetCifar: there are no widths");
  return Network(params, training).Logits(images);
}

Output ResnetCifarLoss(Output logits, Output labels, const std::vector<Variable>& variables,
                       float weight_decay) {
  std::vector<Output> norms;
  for (const Variable& variable : variables) norms.push_back(L2Loss(variable));
  const Output losses = SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss;
  return Mean(losses, 0) + weight_decay * AddN(norms);
}

train::LearningRate ResnetCifarSchedule(float rate, int64_t batch_size, int64_t num_workers) {
  constexpr int64_t kImages = 45000;
  if (batch_size < 1 || num_workers < 1) {
    throw InvalidArgument("train_batch_size {} and num_workers {} must both be at least 1",
                          batch_size, num_workers);
  }
  if (batch_size > kImages / num_workers) {
    throw InvalidArgument(
        "train_batch_size {} times num_workers {} is more than the {} images of an epoch",
        batch_size, num_workers, kImages);
  }
  const int64_t batches = kImages / (batch_size * num_workers);
  return train::PiecewiseConstant({82 * batches, 123 * batches, 300 * batches},
                                  {rate, rate * 0.1f, rate * 0.01f, rate * 0.002f});
}

}  // namespace sextant::models
