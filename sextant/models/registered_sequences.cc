#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/philox.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/models/registry.h"
#include "sextant/models/sequence_autoencoder.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/math/arg_reduce.h"
#include "sextant/ops/math/cast.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant::models {
namespace {

constexpr int64_t kTestSequences = 2000;
constexpr int64_t kTestSeed = -1;  // unlike those of trainings

// Symbols drawn without replacement, in field "sequence"; nothing is read.
data::Dataset Permutations(int64_t count, const HParams& params, const ModelData& data,
                           int64_t seed) {
  if (!data.folder.empty() || !data.train_files.empty() || !data.eval_files.empty())
    throw InvalidArgument("this model makes its own data: leave out --data and files");
  const auto length = params.Get<int64_t>("sequence_length");
  const auto vocabulary = params.Get<int64_t>("vocabulary");
  const auto draw = [length, vocabulary](data::Element&&, data::MapContext& context) {
    std::vector<int64_t> symbols(static_cast<size_t>(vocabulary));
    std::iota(symbols.begin(), symbols.end(), 0);
    Tensor sequence = context.NewField("sequence", DType::kInt64, {length});
    for (int64_t t = 0; t < length; ++t) {
      const uint64_t number = context.random.Next()[0];
      std::swap(symbols[t], symbols[t + number % static_cast<uint64_t>(vocabulary - t)]);
      sequence.data<int64_t>()[t] = symbols[t];
    }
    return data::Element{{"sequence", sequence}};
  };
  return data::Range(count).Map(data::RandomMapFn(draw), {.seed = seed});
}

Input TrainSequences(const HParams& params, const ModelData& data) {
  const int64_t seed = data.seed ? *data.seed : static_cast<int64_t>(std::random_device()());
  return Permutations(std::numeric_limits<int64_t>::max(), params, data, seed)
      .Batch(BatchPerDevice(params, "train_batch_size", data));
}

Input EvalSequences(const HParams& params, const ModelData& data) {
  return Permutations(kTestSequences, params, data, kTestSeed)
      .Batch(BatchPerDevice(params, "eval_batch_size", data));
}

// The labels are the features. Also when predicting the decoder is told the symbol before.
EstimatorSpec AutoencoderModel(const ModelFnArgs& args) {
  const Output sequence = args.features["sequence"];
  const std::vector<Output> symbols = Unstack(Cast(sequence, DType::kInt32), 1);
  const SequenceAutoencoder model =
      BuildSequenceAutoencoder(symbols, symbols,
                               {.vocabulary = args.params.Get<int64_t>("vocabulary"),
                                .units = args.params.Get<int64_t>("units")});
  std::vector<Output> said;
  for (const Output& logits : model.outputs) said.push_back(ArgMax(logits, 1));
  const Output recovered = Stack(said, 1);
  EstimatorSpec spec{.mode = args.mode, .predictions = {{"sequence", recovered}}};
  if (args.mode == Mode::kPredict) return spec;
  spec.loss = model.loss;
  spec.eval_metrics = {{"accuracy", metrics::Accuracy(sequence, recovered)}};
  if (args.mode == Mode::kTrain) {
    spec.train_op = train::Momentum({.learning_rate = args.params.Get<double>("learning_rate"),
                                     .momentum = args.params.Get<double>("momentum")})
                        .Minimize(model.loss, {.global_step = train::GetOrCreateGlobalStep()});
  }
  return spec;
}

}  // namespace

RegisteredModel Autoencoder() {
  std::vector<ModelParam> params = UsualParams(500, 0, 64, 100, "sequences");
  const std::vector<ModelParam> own = {
      {"learning_rate", 0.05, "of the momentum optimizer", AtLeast(0)},
      {"momentum", 0.9, "of the optimizer", AtLeast(0)},
      {"sequence_length", 5, "symbols of a sequence, all different", Between(1, 1000)},
      {"vocabulary", 7, "symbols there are", Between(1, 1 << 20)},
      {"units", 100, "of both GRUs and of the embeddings", Between(1, 1 << 16)}};
  params.insert(params.end(), own.begin(), own.end());
  return {.name = "sequence_autoencoder",
          .description = "Two GRUs that read sequences of symbols and write them again.",
          .data_set = "",
          .params = params,
          .model_fn =
              [](const HParams& given) {
                const auto length = given.Get<int64_t>("sequence_length");
                const auto vocabulary = given.Get<int64_t>("vocabulary");
                if (length > vocabulary)
                  throw InvalidArgument(
                      "sequence_length {} is more than the {} symbols of the vocabulary, and a "
                      "sequence has none of them twice",
                      length, vocabulary);
                return AutoencoderModel;
              },
          .train_input = TrainSequences,
          .eval_input = EvalSequences,
          .receivers = {
              {"raw",
               [](const HParams& given) {
                 return RawReceiver(
                     {{"sequence", DType::kInt64, {-1, given.Get<int64_t>("sequence_length")}}});
               }},
              {"example", [](const HParams& given) {
                 return ParsingReceiver({{.key = "sequence",
                                          .dtype = DType::kInt64,
                                          .shape = {given.Get<int64_t>("sequence_length")}}});
               }}}};
}

}  // namespace sextant::models
