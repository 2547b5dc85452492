#include "sextant/models/resnet_cifar.h"

#include "sextant/base/error.h"
#include "sextant/nn/layers.h"
#include "sextant/ops/array/pad.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/reduce.h"

namespace sextant::models {
namespace {

class Network {
 public:
  Network(const ResnetCifarParams& params, bool training)
      : params_(params), training_(training), channels_first_(params.data_format == "NCHW") {}

  Output Logits(Output x) {
    x = x / 128.0 - 1.0;
    if (channels_first_) x = Transpose(x, {0, 3, 1, 2});
    x = Relu(Norm(Conv(x, params_.widths.at(0), 1)));
    int64_t channels = params_.widths[0];
    for (size_t stage = 0; stage < params_.widths.size(); ++stage) {
      for (int64_t unit = 0; unit < params_.units_per_stage; ++unit) {
        const int64_t stride = stage > 0 && unit == 0 ? 2 : 1;
        x = Unit(x, channels, params_.widths[stage], stride);
        channels = params_.widths[stage];
      }
    }
    x = channels_first_ ? Mean(x, {2, 3}) : Mean(x, {1, 2});
    return layers::Dense(x, {.units = params_.classes});
  }

 private:
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

  Output Norm(Output x) const {
    return layers::BatchNorm(x, {.training = training_,
                                 .data_format = params_.data_format,
                                 .momentum = params_.batch_norm_decay,
                                 .epsilon = params_.batch_norm_epsilon});
  }

  Output Unit(Output x, int64_t in, int64_t out, int64_t stride) const {
    Output shortcut = x;
    if (in != out) {
      if (stride > 1) {
        shortcut = layers::AveragePool2D(shortcut, {.pool = stride,
                                                    .strides = stride,
                                                    .padding = "SAME",
                                                    .data_format = params_.data_format});
      }
      const int64_t before = (out - in) / 2;
      shortcut = Padded(shortcut, before, out - in - before, true);
    }
    Output y = Relu(Norm(Conv(x, out, stride)));
    y = Norm(Conv(y, out, 1));
    return Relu(y + shortcut);
  }

  const ResnetCifarParams& params_;
  const bool training_;
  const bool channels_first_;
};

}  // namespace

int64_t UnitsPerStage(int64_t layers) {
  if (layers < 8 || (layers - 2) % 6 != 0) {
    throw InvalidArgument("a ResNet for CIFAR has 6 n + 2 layers, {} is none of these", layers);
  }
  return (layers - 2) / 6;
}

Output ResnetCifarLogits(Output images, const ResnetCifarParams& params, bool training) {
  if (params.widths.empty()) throw InvalidArgument("ResnetCifar: there are no widths");
  return Network(params, training).Logits(images);
}

}  // namespace sextant::models
