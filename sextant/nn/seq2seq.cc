#include "sextant/nn/seq2seq.h"

#include <cmath>

#include "sextant/base/error.h"
#include "sextant/nn/embedding_lookup.h"
#include "sextant/nn/get_variable.h"
#include "sextant/nn/layer_variables.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/arg_reduce.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/nn/cross_entropy.h"

namespace sextant::seq2seq {
namespace {

Output SumOfList(const std::vector<Output>& values) {
  return values.size() == 1 ? values[0] : AddN(values);
}

}  // namespace

Seq2SeqResult EmbeddingRnnSeq2Seq(const std::vector<Output>& encoder_inputs,
                                  const std::vector<Output>& decoder_inputs,
                                  const rnn::CellRef& cell,
                                  const EmbeddingRnnSeq2SeqOptions& options) {
  if (encoder_inputs.empty() || decoder_inputs.empty()) {
    throw InvalidArgument("EmbeddingRnnSeq2Seq needs encoder and decoder inputs");
  }
  layers::CheckPositive(options.num_encoder_symbols, "num_encoder_symbols", "EmbeddingRnnSeq2Seq");
  layers::CheckPositive(options.num_decoder_symbols, "num_decoder_symbols", "EmbeddingRnnSeq2Seq");
  layers::CheckPositive(options.embedding_size, "embedding_size", "EmbeddingRnnSeq2Seq");
  const VariableScope scope(options.scope);
  const auto initializer = [&](const Initializer& otherwise) {
    return options.initializer ? options.initializer : otherwise;
  };

  rnn::State state;
  {
    // The table has unit variance whatever its height.
    const VariableScope encoder("rnn");
    const VariableScope wrapper("embedding_wrapper");
    const double limit = std::sqrt(3.0);
    const Variable table = GetVariable(
        "embedding", {.shape = {options.num_encoder_symbols, options.embedding_size},
                      .initializer = initializer(initializers::RandomUniform(-limit, limit))});
    std::vector<Output> embedded;
    for (const Output& ids : encoder_inputs) embedded.push_back(EmbeddingLookup(table, ids));
    state = rnn::StaticRnn(cell, embedded, {}, "rnn").state;
  }

  const VariableScope decoder("embedding_rnn_decoder");
  const Initializer unit = initializer(initializers::UniformUnitScaling());
  const Variable table = GetVariable(
      "embedding",
      {.shape = {options.num_decoder_symbols, options.embedding_size}, .initializer = unit});
  Seq2SeqResult result;
  const VariableScope loop("rnn_decoder");
  for (size_t i = 0; i < decoder_inputs.size(); ++i) {
    Output ids = decoder_inputs[i];
    if (i > 0 && options.feed_previous) ids = StopGradient(ArgMax(result.outputs.back(), 1));
    Output x = EmbeddingLookup(table, ids);
    if (i > 0 && options.feed_previous) x = StopGradient(x);
    auto [output, next] = cell->Step(x, state);
    state = std::move(next);
    const VariableScope projection("output_projection_wrapper", Reuse::kAuto);
    const Variable kernel = GetVariable(
        "kernel",
        {.shape = {cell->output_size(), options.num_decoder_symbols}, .initializer = unit});
    const Variable bias = GetVariable(
        "bias", {.shape = {options.num_decoder_symbols}, .initializer = initializers::Zeros()});
    result.outputs.push_back(BiasAdd(MatMul(output, kernel), bias));
  }
  result.state = state;
  return result;
}

Output SequenceLoss(const std::vector<Output>& logits, const std::vector<Output>& targets,
                    const std::vector<Output>& weights, bool average_across_timesteps,
                    bool average_across_batch) {
  if (logits.empty() || logits.size() != targets.size() || logits.size() != weights.size()) {
    throw InvalidArgument("SequenceLoss: {} logits, {} targets and {} weights must be equally many",
                          logits.size(), targets.size(), weights.size());
  }
  const NameScope scope("sequence_loss");
  std::vector<Output> losses;
  for (size_t t = 0; t < logits.size(); ++t) {
    losses.push_back(SparseSoftmaxCrossEntropyWithLogits(logits[t], targets[t]).loss * weights[t]);
  }
  Output by_row = SumOfList(losses);
  if (average_across_timesteps) by_row = by_row / (SumOfList(weights) + 1e-12);
  const Output total = Sum(by_row, 0);
  if (!average_across_batch) return total;
  return total / Cast(Squeeze(Slice(ShapeOf(targets[0]), {0}, {1}), {0}), total.dtype());
}

}  // namespace sextant::seq2seq
