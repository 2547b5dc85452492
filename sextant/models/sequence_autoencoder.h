// A sequence autoencoder: one GRU reads symbols to a state, another one writes them out again, told
// the symbol before (embedding_rnn_seq2seq of TensorFlow 0.7).
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::models {

struct SEXTANT_API SequenceAutoencoder {
  std::vector<Output> outputs;  // per position: logits [batch, vocabulary]
  Output state;                 // after the last position, [batch, units]
  Output loss;                  // the mean cross entropy of a position
};

struct SEXTANT_API SequenceAutoencoderParams {
  int64_t vocabulary = 7;
  int64_t units = 100;  // also of both embeddings
};

// inputs and labels: int32 [batch] per position, equally many. The decoder begins with symbol 0.
SequenceAutoencoder BuildSequenceAutoencoder(const std::vector<Output>& inputs,
                                             const std::vector<Output>& labels,
                                             const SequenceAutoencoderParams& params = {});

}  // namespace sextant::models

#pragma GCC visibility pop
