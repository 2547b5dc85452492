// Chapter 17: figures of the reference networks that need no training to be checked.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

// How many numbers a network learns.
template <typename Build>
int64_t Trainable(const Build& build) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  build();
  int64_t count = 0;
  for (const sx::Variable& variable : sx::TrainableVariables()) {
    count += variable.shape().num_elements();
  }
  return count;
}

sx::Output Images(int64_t size, int64_t channels) {
  return sx::Placeholder(sx::DType::kFloat, {-1, size, size, channels});
}

float RateAt(int64_t step, int64_t num_workers) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::Variable global_step("global_step", sx::Tensor(step));
  const sx::Output rate =
      sx::models::ResnetCifarSchedule(0.1f, 128, num_workers).Build(global_step);
  sx::Session session(graph);
  session.Run(sx::GlobalVariablesInitializer());
  return session.Run(rate).scalar<float>();
}

}  // namespace

int main() {
  for (const int64_t layers : {20, 32, 44, 56, 110}) {
    const int64_t units = sx::models::UnitsPerStage(layers);
    fmt::print("ResNet-{}: {}\n", layers, Trainable([&] {
                 sx::models::ResnetCifarLogits(Images(32, 3), {.units_per_stage = units}, true);
               }));
  }
  fmt::print("mnist_convnet: {}\n",
             Trainable([] { sx::models::MnistConvnetLogits(Images(28, 1), {}, true); }));
  fmt::print("Simple on CIFAR-10: {}\n",
             Trainable([] { sx::models::SimpleNetLogits(Images(32, 3), {}, true); }));
  for (const int64_t workers : {1, 2}) {
    fmt::print("workers: {}", workers);
    const int64_t epoch = 45000 / (128 * workers);
    for (const int64_t boundary : {82 * epoch, 123 * epoch, 300 * epoch}) {
      fmt::print(", rate {:g} until step {}, then {:g}", RateAt(boundary, workers), boundary,
                 RateAt(boundary + 1, workers));
    }
    fmt::print("\n");
  }
}
