// A convolutional net for small grey images: two convolutions with pooling, two dense layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/layers.h"

#pragma GCC visibility push(default)

namespace sextant::models {

struct SEXTANT_API MnistConvnetParams {
  int64_t kernel = 5;
  int64_t channels1 = 32;
  int64_t channels2 = 64;
  int64_t units = 1024;
  int64_t classes = 10;
  std::string pool = "max";            // or "avg": 2x2, stride 2
  layers::Activation activation = {};  // default: ReLU
  float dropout = 0.4f;                // in training
  Output dropout_rate = {};            // a scalar, e.g. a placeholder, instead of dropout
};

// images: [batch, 784], numbers in [0, 1]. Variables conv1, conv2, fc1, logits / kernel, bias;
// kernels begin as normal numbers of deviation 0.1, cut at two deviations, biases as 0.1.
Output MnistConvnetLogits(Output images, const MnistConvnetParams& params, bool training);

// "relu", "tanh", "sigmoid", "elu", …. Throws INVALID_ARGUMENT for others.
layers::Activation ActivationByName(const std::string& name);
// The names there are.
std::vector<std::string> ActivationNames();

}  // namespace sextant::models

#pragma GCC visibility pop
