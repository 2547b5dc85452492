#include "benchmarks/models/resnet44.h"

#include <cmath>

#include "benchmarks/models/optimizers.h"
#include "sextant/ops/nn/batch_norm.h"
#include "sextant/ops/nn/conv.h"
#include "sextant/ops/nn/cross_entropy.h"
#include "sextant/ops/nn/pool.h"
#include "sextant/ops/nn/softmax.h"
#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

constexpr float kDecay = 0.997f, kEpsilon = 1e-5f;
constexpr int kUnitsPerStage = 7;
constexpr int64_t kClasses = 11;

// Uniform with the variance 2 / (fan_in + fan_out).
Variable Glorot(const std::string& name, const Shape& shape, int64_t fan_in, int64_t fan_out) {
  const double limit = std::sqrt(6.0 / static_cast<double>(fan_in + fan_out));
  return Variable(name, [&] { return RandomUniform(shape, {.min = -limit, .max = limit}); });
}

int64_t Channels(Output x) { return x.shape()[3]; }

class Network {
 public:
  Network(bool training, Output (*activation)(Output))
      : training_(training), activation_(activation) {}

  Output Logits(Output images) {
    Output x = images / 128.0f - 1.0f;
    x = activation_(Norm(Conv(x, 16, 1)));
    for (const auto& [channels, stride] : {std::pair{16, 1}, std::pair{32, 2}, std::pair{64, 2}}) {
      for (int i = 0; i < kUnitsPerStage; ++i) x = Unit(x, channels, i == 0 ? stride : 1);
    }
    x = Mean(x, {1, 2});
    const Variable kernel = Glorot("dense/kernel", {64, kClasses}, 64, kClasses);
    const Variable bias("dense/bias", Zeros({kClasses}));
    return MatMul(x, kernel) + bias;
  }

  // What moves the running statistics.
  const std::vector<Operation>& updates() const { return updates_; }

 private:
  Output Conv(Output x, int64_t out, int64_t stride) const {
    const int64_t in = Channels(x);
    const Variable kernel =
        Glorot("conv" + std::to_string(num_norms_) + "/kernel", {3, 3, in, out}, 9 * in, 9 * out);
    if (stride == 1) return Conv2D(x, kernel, {.padding = "SAME"});
    x = Pad(x, {{0, 0}, {1, 1}, {1, 1}, {0, 0}});
    return Conv2D(x, kernel, {.strides = {1, stride, stride, 1}, .padding = "VALID"});
  }

  Output Norm(Output x) {
    const std::string name = "norm" + std::to_string(num_norms_++) + "/";
    const Shape shape{Channels(x)};
    const Variable gamma(name + "gamma", Ones(shape));
    const Variable beta(name + "beta", Zeros(shape));
    const Variable mean(name + "moving_mean", Zeros(shape), {.trainable = false});
    const Variable variance(name + "moving_variance", Ones(shape), {.trainable = false});
    if (!training_) {
      return FusedBatchNorm(x, gamma, beta, mean, variance,
                            {.epsilon = kEpsilon, .is_training = false})
          .y;
    }
    const Output none = Const(Tensor(DType::kFloat, Shape{0}));
    const FusedBatchNormResult norm =
        FusedBatchNorm(x, gamma, beta, none, none, {.epsilon = kEpsilon});
    Follow(mean, norm.batch_mean);
    Follow(variance, norm.batch_variance);
    return norm.y;
  }

  void Follow(const Variable& average, Output value) {
    const Output step = (1 - kDecay) * (average - value);
    updates_.push_back(
        OpBuilder("AssignSubVariableOp").Input(average.handle()).Input(step).BuildOperation());
  }

  Output Unit(Output x, int64_t out, int64_t stride) {
    const int64_t in = Channels(x);
    Output y = activation_(Norm(Conv(x, out, stride)));
    y = Norm(Conv(y, out, 1));
    if (in != out) {
      x = AvgPool(
          x,
          {.ksize = {1, stride, stride, 1}, .strides = {1, stride, stride, 1}, .padding = "SAME"});
      const int64_t extra = (out - in) / 2;
      x = Pad(x, {{0, 0}, {0, 0}, {0, 0}, {extra, extra}});
    }
    return activation_(x + y);
  }

  const bool training_;
  Output (*const activation_)(Output);
  int num_norms_ = 0;
  std::vector<Operation> updates_;
};

}  // namespace

Resnet44Training BuildResnet44Training(Output images, Output labels, float rate,
                                       Output (*activation)(Output)) {
  Network network(true, activation);
  const Output logits = network.Logits(images);
  const std::vector<Variable> variables = CollectedVariables(kTrainableVariables);
  std::vector<Output> norms;
  for (const Variable& variable : variables) norms.push_back(L2Loss(variable));
  Resnet44Training model;
  model.logits = logits;
  model.loss =
      Mean(SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss, 0) + 2e-4f * AddN(norms);
  std::vector<Operation> operations = network.updates();
  operations.push_back(MinimizeByMomentum(model.loss, variables, rate, 0.9f));
  const Variable step("global_step", Tensor(int64_t{0}), {.trainable = false});
  operations.push_back(step.AssignAdd(Const(Tensor(int64_t{1}))));
  model.train = Group(operations);
  return model;
}

Output BuildResnet44Inference(Output images) {
  return Softmax(Network(false, Relu).Logits(images));
}

}  // namespace sextant::bench
