// A sequence autoencoder: an encoder reads ids to a state, a decoder says them again.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::models {

struct SEXTANT_API SequenceAutoencoderParams {
  int64_t vocabulary = 0;
  int64_t embedding = 0;
  int64_t units = 0;
  std::string cell = "gru";  // or "lstm"
};

// ids [batch, time] → logits [batch, time, vocabulary]. The decoder is told the true previous id
// when training, else it takes the likeliest; it begins with id 0.
Output SequenceAutoencoderLogits(Output ids, const SequenceAutoencoderParams& params,
                                 bool training);

}  // namespace sextant::models

#pragma GCC visibility pop
