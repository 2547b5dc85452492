// A training step of the GRU sequence autoencoder, fed from fifty prepared batches.
#include <fmt/format.h>

#include "benchmarks/steps.h"
#include "sextant/sextant.h"
#include "sextant/testing/numpy_random.h"

namespace sextant::bench {
namespace {

constexpr int64_t kGruLength = 5, kGruSymbols = 7;
constexpr int kSentenceBatches = 50;

// Per position: the symbols of the batch. Sequences have no symbol twice.
std::vector<Tensor> Sequences(NumpyRandom& random, int64_t batch) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < kGruLength; ++i) inputs.emplace_back(DType::kInt32, Shape{batch});
  for (int64_t b = 0; b < batch; ++b) {
    const std::vector<int32_t> symbols = random.Permutation(kGruSymbols);
    for (int i = 0; i < kGruLength; ++i) inputs[i].data<int32_t>()[b] = symbols[i];
  }
  return inputs;
}

}  // namespace

void MeasureGruSeq2Seq(const Options& options) {
  NumpyRandom random(1);
  for (const int64_t batch : options.batches) {
    Graph graph;
    GraphScope use(graph);
    std::vector<Output> inputs;
    for (int i = 0; i < kGruLength; ++i) {
      inputs.push_back(Placeholder(DType::kInt32, PartialShape{-1}));
    }
    const Output loss_output = models::BuildSequenceAutoencoder(inputs, inputs).loss;
    const Operation update =
        train::Momentum({.learning_rate = 0.05, .momentum = 0.9}).Minimize(loss_output);
    Session session(graph, {.threads = options.threads});
    session.Run(GlobalVariablesInitializer());
    std::vector<std::vector<Tensor>> pool;
    for (int i = 0; i < kSentenceBatches; ++i) pool.push_back(Sequences(random, batch));
    const Callable call = session.MakeCallable(inputs, {loss_output}, {update});
    Tensor loss;
    size_t count = 0;
    MeasureSteps(
        {.workload = "gru_seq2seq", .metric = "steps/s", .mode = "training, fed", .batch = batch},
        options,
        [&](const RunOptions& run) {
          call.Call(pool[++count % kSentenceBatches], std::span(&loss, 1), run);
        },
        [&] {
          return Extra{{"nodes", std::to_string(graph.num_nodes())},
                       {"loss", fmt::format("{:.5g}", loss.scalar<float>())}};
        });
  }
}

}  // namespace sextant::bench
