// Layers: functions that make their variables where they are called, with TensorFlow's names.
//
//   Output x = layers::Conv2D(images, {.filters = 32, .kernel = 5, .activation = Relu});
//
// A layer's variables are in the VariableScope "name", by default "conv2d", then "conv2d_1", …;
// called again in a scope with Reuse::kTrue it uses the same ones. Shapes are inferred: the
// dimensions that decide the size of a variable must be known. Images are [batch, height, width,
// channels], or with data_format "NCHW" [batch, channels, height, width].
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/get_variable.h"
#include "sextant/nn/initializers.h"

#pragma GCC visibility push(default)

namespace sextant::layers {

using Activation = std::function<Output(Output)>;

// A size in two directions; one number is for both.
struct SEXTANT_API Size2 {
  Size2(int64_t both) : height(both), width(both) {}  // NOLINT
  Size2(int64_t h, int64_t w) : height(h), width(w) {}
  int64_t height, width;  // in pixels
};

struct SEXTANT_API DenseOptions {
  int64_t units = 0;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = {};  // default: Glorot uniform
  Initializer bias_initializer = {};    // default: zeros
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  bool trainable = true;
  std::string name = {};
};
// activation(x kernel + bias) over the last dimension.
Output Dense(Output x, const DenseOptions& options);

struct SEXTANT_API Conv1DOptions {
  int64_t filters = 0;
  int64_t kernel = 3;
  int64_t strides = 1;
  std::string padding = "VALID";
  int64_t dilation = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = {};
  Initializer bias_initializer = {};
  Regularizer kernel_regularizer = {};
  bool trainable = true;
  std::string name = {};
};
// On [batch, time, channels].
Output Conv1D(Output x, const Conv1DOptions& options);

struct SEXTANT_API Conv2DOptions {
  int64_t filters = 0;
  Size2 kernel = 3;
  Size2 strides = 1;
  std::string padding = "VALID";
  std::string data_format = "NHWC";
  Size2 dilation = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = {};
  Initializer bias_initializer = {};
  Regularizer kernel_regularizer = {};
  bool trainable = true;
  std::string name = {};
};
Output Conv2D(Output x, const Conv2DOptions& options);
// Upsamples: the gradient of Conv2D by its input.
Output Conv2DTranspose(Output x, const Conv2DOptions& options);

struct SEXTANT_API DepthwiseConv2DOptions {
  Size2 kernel = 3;
  Size2 strides = 1;
  std::string padding = "VALID";
  std::string data_format = "NHWC";
  int64_t multiplier = 1;  // outputs per channel
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = {};
  Initializer bias_initializer = {};
  Regularizer depthwise_regularizer = {};
  bool trainable = true;
  std::string name = {};
};
Output DepthwiseConv2D(Output x, const DepthwiseConv2DOptions& options);

struct SEXTANT_API SeparableConv2DOptions {
  int64_t filters = 0;
  Size2 kernel = 3;
  Size2 strides = 1;
  std::string padding = "VALID";
  std::string data_format = "NHWC";
  int64_t multiplier = 1;
  Activation activation = {};
  bool use_bias = true;
  Initializer depthwise_initializer = {};
  Initializer pointwise_initializer = {};
  Initializer bias_initializer = {};
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  bool trainable = true;
  std::string name = {};
};
Output SeparableConv2D(Output x, const SeparableConv2DOptions& options);

struct SEXTANT_API Pool2DOptions {
  Size2 pool = 2;
  Size2 strides = 2;
  std::string padding = "VALID";
  std::string data_format = "NHWC";
  std::string name = {};
};
Output MaxPool2D(Output x, const Pool2DOptions& options = {});
Output AveragePool2D(Output x, const Pool2DOptions& options = {});

struct SEXTANT_API Pool1DOptions {
  int64_t pool = 2;
  int64_t strides = 2;
  std::string padding = "VALID";
  std::string name = {};
};
Output MaxPool1D(Output x, const Pool1DOptions& options = {});
Output AveragePool1D(Output x, const Pool1DOptions& options = {});

struct SEXTANT_API BatchNormOptions {
  bool training = false;  // normalise by the batch and move the averages (collection kUpdateOps)
  std::string data_format = "NHWC";
  float momentum = 0.99f;
  float epsilon = 1e-3f;
  bool center = true;
  bool scale = true;
  Initializer beta_initializer = {};
  Initializer gamma_initializer = {};
  Initializer moving_mean_initializer = {};
  Initializer moving_variance_initializer = {};
  bool trainable = true;
  std::string name = {};
};
// Over all dimensions but the channels. Images take the fused op, whose moving variance receives
// the batch variance times m / (m - 1), as in TensorFlow.
Output BatchNorm(Output x, const BatchNormOptions& options = {});

struct SEXTANT_API LayerNormOptions {
  float epsilon = 1e-3f;
  bool center = true;
  bool scale = true;
  std::string name = {};
};
// Over the last dimension.
Output LayerNorm(Output x, const LayerNormOptions& options = {});

struct SEXTANT_API DropoutOptions {
  float rate = 0.5f;  // the share of elements that become 0; the others grow by 1 / (1 - rate)
  bool training = false;
  std::optional<int64_t> seed = {};
  std::string name = {};
};
Output Dropout(Output x, const DropoutOptions& options);

struct SEXTANT_API EmbeddingOptions {
  int64_t rows = 0;
  int64_t columns = 0;
  Initializer initializer = {};  // default: uniform within ±0.05
  Regularizer regularizer = {};
  bool trainable = true;
  std::string name = {};
};
// The rows of a table that integer ids name.
Output Embedding(Output ids, const EmbeddingOptions& options);

// [batch, everything else].
Output Flatten(Output x, const std::string& name = {});

struct SEXTANT_API LocalResponseNormOptions {
  int64_t depth_radius = 5;
  float bias = 1;
  float alpha = 1;
  float beta = 0.5f;
};
Output LocalResponseNorm(Output x, const LocalResponseNormOptions& options = {});

}  // namespace sextant::layers

#pragma GCC visibility pop
