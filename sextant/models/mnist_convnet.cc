#include "sextant/models/mnist_convnet.h"

#include "sextant/base/error.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"

namespace sextant::models {

layers::Activation ActivationByName(const std::string& name) {
  if (name == "relu") return Relu;
  if (name == "relu6") return Relu6;
  if (name == "elu") return Elu;
  if (name == "selu") return Selu;
  if (name == "tanh") return [](Output x) { return Tanh(x); };
  if (name == "sigmoid") return [](Output x) { return Sigmoid(x); };
  if (name == "softplus") return Softplus;
  if (name == "softsign") return Softsign;
  if (name == "leaky_relu") return [](Output x) { return LeakyRelu(x); };
  if (name == "linear" || name.empty()) return {};
  throw InvalidArgument(
      "there is no activation '{}'; there are relu, relu6, elu, selu, tanh, sigmoid, softplus, "
      "softsign, leaky_relu, linear",
      name);
}

Output MnistConvnetLogits(Output images, const MnistConvnetParams& params, bool training) {
  const layers::Activation activation = params.activation ? params.activation : Relu;
  const auto conv = [&](Output x, int64_t filters, const char* name) {
    return layers::Conv2D(x, {.filters = filters,
                              .kernel = params.kernel,
                              .padding = "SAME",
                              .activation = activation,
                              .name = name});
  };
  const auto pool = [&](Output x) {
    return params.pool == "avg" ? layers::AveragePool2D(x) : layers::MaxPool2D(x);
  };
  Output x = Reshape(images, {-1, 28, 28, 1});
  x = pool(conv(x, params.channels1, "conv1"));
  x = pool(conv(x, params.channels2, "conv2"));
  x = layers::Dense(layers::Flatten(x),
                    {.units = params.units, .activation = activation, .name = "fc1"});
  x = layers::Dropout(x, {.rate = params.dropout, .training = training});
  return layers::Dense(x, {.units = params.classes, .name = "logits"});
}

}  // namespace sextant::models
