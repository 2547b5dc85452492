#include "sextant/base/error.h"
#include "sextant/nn/layer_variables.h"
#include "sextant/nn/layers.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/nn/conv.h"
#include "sextant/ops/nn/depthwise_conv.h"

namespace sextant::layers {
namespace {

bool ChannelsFirst(const std::string& data_format) {
  if (data_format == "NCHW") return true;
  if (data_format == "NHWC") return false;
  throw InvalidArgument("data_format '{}' is neither NHWC nor NCHW", data_format);
}

std::string Upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::vector<int64_t> InFormat(const Size2& size, bool channels_first) {
  if (channels_first) return {1, 1, size.height, size.width};
  return {1, size.height, size.width, 1};
}

sextant::Conv2DOptions OpOptions(const Size2& strides, const std::string& padding,
                                 const std::string& data_format, const Size2& dilation = 1) {
  const bool first = ChannelsFirst(data_format);
  return {.strides = InFormat(strides, first),
          .padding = Upper(padding),
          .data_format = data_format,
          .dilations = InFormat(dilation, first)};
}

// The bias, if there is one, and the activation.
template <typename Options>
Output Finish(Output y, int64_t filters, const Options& options, const std::string& data_format) {
  if (options.use_bias) {
    const Variable bias = GetVariable(
        "bias",
        {.shape = {filters},
         .dtype = y.dtype(),
         .initializer = options.bias_initializer ? options.bias_initializer : initializers::Zeros(),
         .trainable = options.trainable});
    y = BiasAdd(y, bias, {.data_format = data_format});
  }
  return options.activation ? options.activation(y) : y;
}

int64_t Channels(Output x, const std::string& data_format, const char* layer) {
  CheckRank(x, 4, layer);
  return KnownDim(x, ChannelsFirst(data_format) ? 1 : 3, layer);
}

}  // namespace

Output Conv2D(Output x, const Conv2DOptions& options) {
  CheckPositive(options.filters, "filters", "Conv2D");
  const int64_t in = Channels(x, options.data_format, "Conv2D");
  const LayerScope scope(options.name, "conv2d");
  const Variable kernel = GetVariable(
      "kernel", {.shape = {options.kernel.height, options.kernel.width, in, options.filters},
                 .dtype = x.dtype(),
                 .initializer = options.kernel_initializer,
                 .regularizer = options.kernel_regularizer,
                 .trainable = options.trainable});
  const Output y = sextant::Conv2D(
      x, kernel,
      OpOptions(options.strides, options.padding, options.data_format, options.dilation));
  return Finish(y, options.filters, options, options.data_format);
}

Output Conv1D(Output x, const Conv1DOptions& options) {
  CheckPositive(options.filters, "filters", "Conv1D");
  CheckRank(x, 3, "Conv1D");
  const int64_t in = KnownDim(x, 2, "Conv1D");
  const LayerScope scope(options.name, "conv1d");
  const Variable kernel = GetVariable("kernel", {.shape = {options.kernel, in, options.filters},
                                                 .dtype = x.dtype(),
                                                 .initializer = options.kernel_initializer,
                                                 .regularizer = options.kernel_regularizer,
                                                 .trainable = options.trainable});
  // Time is the width of an image of height 1.
  const Output y = sextant::Conv2D(
      ExpandDims(x, 1), ExpandDims(kernel, 0),
      OpOptions({1, options.strides}, options.padding, "NHWC", {1, options.dilation}));
  return Finish(Squeeze(y, {1}), options.filters, options, "NHWC");
}

Output Conv2DTranspose(Output x, const Conv2DOptions& options) {
  CheckPositive(options.filters, "filters", "Conv2DTranspose");
  const int64_t in = Channels(x, options.data_format, "Conv2DTranspose");
  const bool first = ChannelsFirst(options.data_format);
  const std::string padding = Upper(options.padding);
  const LayerScope scope(options.name, "conv2d_transpose");
  const Variable kernel = GetVariable(
      "kernel", {.shape = {options.kernel.height, options.kernel.width, options.filters, in},
                 .dtype = x.dtype(),
                 .initializer = options.kernel_initializer,
                 .regularizer = options.kernel_regularizer,
                 .trainable = options.trainable});
  const int height_axis = first ? 2 : 1;
  const Output shape = ShapeOf(x);
  const auto size = [&](int axis) { return Squeeze(Slice(shape, {axis}, {1}), {0}); };
  const auto grown = [&](int axis, int64_t stride, int64_t window) {
    const int64_t known = x.shape()[axis];
    const int64_t extra = padding == "VALID" ? std::max<int64_t>(window - stride, 0) : 0;
    if (known >= 0) return Const(Tensor(static_cast<int32_t>(known * stride + extra)));
    return size(axis) * static_cast<double>(stride) + static_cast<double>(extra);
  };
  const Output height = grown(height_axis, options.strides.height, options.kernel.height);
  const Output width = grown(height_axis + 1, options.strides.width, options.kernel.width);
  const Output filters = Const(Tensor(static_cast<int32_t>(options.filters)));
  const Output batch =
      x.shape()[0] >= 0 ? Const(Tensor(static_cast<int32_t>(x.shape()[0]))) : size(0);
  const Output out_shape =
      first ? Pack({batch, filters, height, width}) : Pack({batch, height, width, filters});
  const Output y = Conv2DBackpropInput(out_shape, kernel, x,
                                       OpOptions(options.strides, padding, options.data_format));
  return Finish(y, options.filters, options, options.data_format);
}

Output DepthwiseConv2D(Output x, const DepthwiseConv2DOptions& options) {
  CheckPositive(options.multiplier, "multiplier", "DepthwiseConv2D");
  const int64_t in = Channels(x, options.data_format, "DepthwiseConv2D");
  const LayerScope scope(options.name, "depthwise_conv2d");
  const Variable kernel =
      GetVariable("depthwise_kernel",
                  {.shape = {options.kernel.height, options.kernel.width, in, options.multiplier},
                   .dtype = x.dtype(),
                   .initializer = options.depthwise_initializer,
                   .regularizer = options.depthwise_regularizer,
                   .trainable = options.trainable});
  const Output y = DepthwiseConv2dNative(
      x, kernel, OpOptions(options.strides, options.padding, options.data_format));
  return Finish(y, in * options.multiplier, options, options.data_format);
}

Output SeparableConv2D(Output x, const SeparableConv2DOptions& options) {
  CheckPositive(options.filters, "filters", "SeparableConv2D");
  CheckPositive(options.multiplier, "multiplier", "SeparableConv2D");
  const int64_t in = Channels(x, options.data_format, "SeparableConv2D");
  const LayerScope scope(options.name, "separable_conv2d");
  const Variable depthwise =
      GetVariable("depthwise_kernel",
                  {.shape = {options.kernel.height, options.kernel.width, in, options.multiplier},
                   .dtype = x.dtype(),
                   .initializer = options.depthwise_initializer,
                   .regularizer = options.depthwise_regularizer,
                   .trainable = options.trainable});
  const Variable pointwise =
      GetVariable("pointwise_kernel", {.shape = {1, 1, in * options.multiplier, options.filters},
                                       .dtype = x.dtype(),
                                       .initializer = options.pointwise_initializer,
                                       .regularizer = options.pointwise_regularizer,
                                       .trainable = options.trainable});
  const Output y = DepthwiseConv2dNative(
      x, depthwise, OpOptions(options.strides, options.padding, options.data_format));
  return Finish(sextant::Conv2D(y, pointwise, OpOptions(1, "VALID", options.data_format)),
                options.filters, options, options.data_format);
}

}  // namespace sextant::layers
