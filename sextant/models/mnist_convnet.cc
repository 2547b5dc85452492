#include "sextant/models/mnist_convnet.h"

#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/dropout.h"

namespace sextant::models {

namespace {

const std::vector<std::pair<std::string, layers::Activation>>& Activations() {
  static const std::vector<std::pair<std::string, layers::Activation>> activations = {
      {"relu", Relu},
      {"relu6", Relu6},
      {"elu", Elu},
      {"selu", Selu},
      {"tanh", [](Output x) { return Tanh(x); }},
      {"sigmoid", [](Output x) { return Sigmoid(x); }},
      {"softplus", Softplus},
      {"softsign", Softsign},
      {"leaky_relu", [](Output x) { return LeakyRelu(x); }},
      {"linear", {}}};
  return activations;
}

}  // namespace

layers::Activation ActivationByName(const std::string& name) {
  if (name.empty()) return {};
  for (const auto& [known, activation] : Activations()) {
    if (known == name) return activation;
  }
  throw InvalidArgument("there is no activation '{}'{}", name,
                        DidYouMeanOneOf(name, ActivationNames()));
}

std::vector<std::string> ActivationNames() {
  std::vector<std::string> names;
  for (const auto& [name, activation] : Activations()) names.push_back(name);
  return names;
}

Output MnistConvnetLogits(Output images, const MnistConvnetParams& params, bool training) {
  const layers::Activation activation = params.activation ? params.activation : Relu;
  const Initializer kernels = initializers::TruncatedNormal(0, 0.1);
  const Initializer biases = initializers::Constant(0.1);
  const auto dense = [&](Output x, int64_t units, const layers::Activation& act, const char* name) {
    return layers::Dense(x, {.units = units,
                             .activation = act,
                             .kernel_initializer = kernels,
                             .bias_initializer = biases,
                             .name = name});
  };
  const auto conv = [&](Output x, int64_t filters, const char* name) {
    return layers::Conv2D(x, {.filters = filters,
                              .kernel = params.kernel,
                              .padding = "SAME",
                              .activation = activation,
                              .kernel_initializer = kernels,
                              .bias_initializer = biases,
                              .name = name});
  };
  const auto pool = [&](Output x) {
    return params.pool == "avg" ? layers::AveragePool2D(x) : layers::MaxPool2D(x);
  };
  Output x = Reshape(images, {-1, 28, 28, 1});
  x = pool(conv(x, params.channels1, "conv1"));
  x = pool(conv(x, params.channels2, "conv2"));
  x = dense(layers::Flatten(x), params.units, activation, "fc1");
  x = params.dropout_rate ? Dropout(x, {.rate_tensor = params.dropout_rate})
                          : layers::Dropout(x, {.rate = params.dropout, .training = training});
  return dense(x, params.classes, {}, "logits");
}

}  // namespace sextant::models
