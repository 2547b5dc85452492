#include "benchmarks/models/mnist_convnet.h"

#include "benchmarks/models/optimizers.h"
#include "sextant/ops/nn/conv.h"
#include "sextant/ops/nn/pool.h"
#include "sextant/ops/nn/softmax.h"
#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

Variable Weights(const Shape& shape) {
  return Variable("weights", [&] { return TruncatedNormal(shape, {.stddev = 0.1}); });
}

Variable Biases(int64_t size) { return Variable("biases", Fill(Shape{size}, Tensor(0.1f))); }

Output Dropout(Output x, Output keep) {
  const Output kept = GreaterEqual(RandomUniform(ShapeOf(x)), 1.0f - keep);
  return SelectV2(kept, x / keep, Const(Tensor(0.0f)));
}

}  // namespace

MnistConvnet BuildMnistConvnet() {
  MnistConvnet model;
  model.images = Placeholder(DType::kFloat, PartialShape{-1, 784});
  model.labels = Placeholder(DType::kFloat, PartialShape{-1, 10});
  model.keep = Placeholder(DType::kFloat, PartialShape{});
  Output x = Reshape(model.images, {-1, 28, 28, 1});
  for (const auto& [in, out] : {std::pair{1, 32}, std::pair{32, 64}}) {
    const Variable weights = Weights({5, 5, in, out});
    x = Relu(Conv2D(x, weights, {.padding = "SAME"}) + Biases(out));
    x = MaxPool(x, {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"});
  }
  const Variable hidden = Weights({3136, 1024});
  x = Relu(MatMul(Reshape(x, {-1, 3136}), hidden) + Biases(1024));
  x = Dropout(x, model.keep);
  const Variable digits = Weights({1024, 10});
  model.probabilities = Softmax(MatMul(x, digits) + Biases(10));
  model.loss = -Sum(model.labels * Log(model.probabilities), {0, 1});
  model.train = MinimizeByAdam(model.loss, CollectedVariables(kTrainableVariables), 1e-4f);
  return model;
}

}  // namespace sextant::bench
