// A training step of ResNet-44 on images in memory, and its forward pass.
#include <fmt/format.h>

#include "benchmarks/steps.h"
#include "sextant/sextant.h"
#include "sextant/testing/numpy_random.h"

namespace sextant::bench {
namespace {

struct Images {
  Tensor images, labels;
};

Images RandomImages(int64_t batch) {
  NumpyRandom random(1);
  Images data{Tensor(DType::kFloat, Shape{batch, 32, 32, 3}), Tensor(DType::kInt32, Shape{batch})};
  for (float& x : data.images.flat<float>()) x = static_cast<float>(random.Uniform(0, 255));
  for (int32_t& x : data.labels.flat<int32_t>()) x = static_cast<int32_t>(random.Below(10));
  return data;
}

struct Training {
  Output loss;
  Operation train;
};

// Momentum, weight decay, running statistics.
Training BuildTraining(Output images, Output labels) {
  const Output logits = models::ResnetCifarLogits(images, {}, true);
  Training model;
  model.loss =
      models::ResnetCifarLoss(logits, labels, CollectedVariables(kTrainableVariables), 2e-4f);
  std::vector<Operation> steps = {
      train::Momentum({.learning_rate = 0.01, .momentum = 0.9})
          .Minimize(model.loss, {.global_step = train::GetOrCreateGlobalStep()})};
  for (const Output& update : CurrentGraph().Collection(kUpdateOps)) {
    steps.emplace_back(update.node());
  }
  model.train = Group(steps);
  return model;
}

}  // namespace

void MeasureResnet44(const Options& options) {
  for (const int64_t batch : options.batches) {
    const Images data = RandomImages(batch);
    Graph graph;
    GraphScope use(graph);
    const Variable images("images", data.images, {.trainable = false});
    const Variable labels("labels", data.labels, {.trainable = false});
    const Training model = BuildTraining(images, labels);
    Session session(graph, {.threads = options.threads});
    session.Run(GlobalVariablesInitializer());
    const Callable train = session.MakeCallable({}, {}, {model.train});
    MeasureSteps(
        {.workload = "resnet44",
         .metric = "images/s",
         .mode = "training, in memory",
         .batch = batch,
         .per_step = static_cast<double>(batch)},
        options, [&](const RunOptions& run) { train.Call({}, {}, run); },
        [&] {
          const float loss = session.Run(model.loss).scalar<float>();
          return Extra{{"loss", fmt::format("{:.5g}", loss)}};
        });
  }
}

void MeasureResnet44Inference(const Options& options) {
  for (const int64_t batch : options.batches) {
    Graph graph;
    GraphScope use(graph);
    const Output images = Placeholder(DType::kFloat, PartialShape{-1, 32, 32, 3});
    const Output probabilities = Softmax(models::ResnetCifarLogits(images, {}, false));
    Session session(graph, {.threads = options.threads});
    session.Run(GlobalVariablesInitializer());
    const Callable call = session.MakeCallable({images}, {probabilities});
    const Tensor feeds[] = {RandomImages(batch).images};
    Tensor result;
    MeasureSteps({.workload = "resnet44_infer",
                  .metric = "images/s",
                  .mode = "inference",
                  .batch = batch,
                  .per_step = static_cast<double>(batch)},
                 options,
                 [&](const RunOptions& run) { call.Call(feeds, std::span(&result, 1), run); });
  }
}

}  // namespace sextant::bench
