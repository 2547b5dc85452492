#include "sextant/models/sequence_autoencoder.h"

#include "sextant/base/error.h"
#include "sextant/nn/rnn.h"
#include "sextant/nn/seq2seq.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/cast.h"

namespace sextant::models {

SequenceAutoencoder BuildSequenceAutoencoder(const std::vector<Output>& inputs,
                                             const std::vector<Output>& labels,
                                             const SequenceAutoencoderParams& params) {
  if (inputs.empty()) throw InvalidArgument("a sequence has at least one position");
  std::vector<Output> told = {ZerosLike(inputs[0])};
  told.insert(told.end(), inputs.begin(), inputs.end() - 1);
  std::vector<Output> weights;
  for (const Output& label : labels) weights.push_back(OnesLike(Cast(label, DType::kFloat)));
  const rnn::CellRef cell = rnn::GruCell(
      {.units = params.units, .kernel_initializer = initializers::UniformUnitScaling()});
  const seq2seq::Seq2SeqResult result =
      seq2seq::EmbeddingRnnSeq2Seq(inputs, told, cell,
                                   {.num_encoder_symbols = params.vocabulary,
                                    .num_decoder_symbols = params.vocabulary,
                                    .embedding_size = params.units});
  return {.outputs = result.outputs,
          .state = result.state.at(0),
          .loss = seq2seq::SequenceLoss(result.outputs, labels, weights)};
}

}  // namespace sextant::models
