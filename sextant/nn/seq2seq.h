// Sequence to sequence models as TensorFlow's legacy_seq2seq builds them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/rnn.h"

#pragma GCC visibility push(default)

namespace sextant::seq2seq {

struct SEXTANT_API Seq2SeqResult {
  std::vector<Output> outputs;  // logits [batch, symbols] per decoder step
  rnn::State state;             // after the last step
};

struct SEXTANT_API EmbeddingRnnSeq2SeqOptions {
  int64_t num_encoder_symbols = 0;
  int64_t num_decoder_symbols = 0;
  int64_t embedding_size = 0;
  // True: every decoder input but the first is the embedding of the previous step's arg-max.
  bool feed_previous = false;
  Initializer initializer = {};  // of all kernels and tables; default: uniform unit scaling
  std::string scope = "embedding_rnn_seq2seq";
};
// Encodes ids [batch] per step to a state; decodes from there, with an embedding and a projection
// of its own.
Seq2SeqResult EmbeddingRnnSeq2Seq(const std::vector<Output>& encoder_inputs,
                                  const std::vector<Output>& decoder_inputs,
                                  const rnn::CellRef& cell,
                                  const EmbeddingRnnSeq2SeqOptions& options);

// The mean over the batch of sum_t w_t CE_t / (sum_t w_t + 1e-12).
Output SequenceLoss(const std::vector<Output>& logits, const std::vector<Output>& targets,
                    const std::vector<Output>& weights, bool average_across_timesteps = true,
                    bool average_across_batch = true);

}  // namespace sextant::seq2seq

#pragma GCC visibility pop
