// A training step and the forward pass of the MNIST convolutional net, fed from prepared batches.
#include "benchmarks/steps.h"
#include "sextant/sextant.h"
#include "sextant/testing/numpy_random.h"

namespace sextant::bench {
namespace {

constexpr int kImageBatches = 20;

// Images, labels and the probability of dropout to keep an element.
std::vector<Tensor> Batch(NumpyRandom& random, int64_t batch, float keep) {
  Tensor images(DType::kFloat, Shape{batch, 784}), labels(DType::kFloat, Shape{batch, 10});
  for (float& x : images.flat<float>()) x = static_cast<float>(random.Uniform(0, 1));
  for (float& x : labels.flat<float>()) x = 0;
  for (int64_t i = 0; i < batch; ++i) labels.data<float>()[i * 10 + random.Below(10)] = 1;
  return {images, labels, Tensor(keep)};
}

}  // namespace

void MeasureMnistConvnet(const Options& options) {
  NumpyRandom random(1);
  for (const int64_t batch : options.batches) {
    Graph graph;
    GraphScope use(graph);
    const Output images = Placeholder(DType::kFloat, PartialShape{-1, 784});
    const Output labels = Placeholder(DType::kFloat, PartialShape{-1, 10});
    const Output keep = Placeholder(DType::kFloat, PartialShape{});
    const Output probabilities =
        Softmax(models::MnistConvnetLogits(images, {.dropout_rate = 1.0 - keep}, true));
    const Operation step =
        train::Adam({.learning_rate = 1e-4}).Minimize(-Sum(labels * Log(probabilities), {0, 1}));
    Session session(graph, {.threads = options.threads});
    session.Run(GlobalVariablesInitializer());
    std::vector<std::vector<Tensor>> pool;
    for (int i = 0; i < kImageBatches; ++i) pool.push_back(Batch(random, batch, 0.5f));
    size_t count = 0;
    const Callable train = session.MakeCallable({images, labels, keep}, {}, {step});
    MeasureSteps(
        {.workload = "mnist_convnet", .metric = "steps/s", .mode = "training, fed", .batch = batch},
        options,
        [&](const RunOptions& run) { train.Call(pool[count++ % kImageBatches], {}, run); });
    if (options.profile) continue;
    for (std::vector<Tensor>& feeds : pool) feeds[2] = Tensor(1.0f);
    const Callable predict = session.MakeCallable({images, labels, keep}, {probabilities});
    Tensor result;
    MeasureSteps({.workload = "mnist_convnet",
                  .metric = "images/s",
                  .mode = "inference",
                  .batch = batch,
                  .per_step = static_cast<double>(batch)},
                 options, [&](const RunOptions& run) {
                   predict.Call(pool[count++ % kImageBatches], std::span(&result, 1), run);
                 });
  }
}

}  // namespace sextant::bench
