#include "sextant/models/simple_net.h"

#include "sextant/nn/layers.h"
#include "sextant/ops/math/activation.h"

namespace sextant::models {

Output SimpleNetLogits(Output images, const SimpleNetParams& params, bool training) {
  Output x = images;
  for (const int64_t filters : {32, 64}) {
    x = layers::Conv2D(x, {.filters = filters, .kernel = 5, .padding = "SAME", .activation = Relu});
    x = layers::MaxPool2D(x, {.pool = 2, .strides = 2});
  }
  x = layers::Dense(layers::Flatten(x), {.units = 1024, .activation = Relu});
  x = layers::Dropout(x, {.rate = params.dropout, .training = training});
  return layers::Dense(x, {.units = params.classes});
}

}  // namespace sextant::models
