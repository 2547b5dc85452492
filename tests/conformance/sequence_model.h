// The sequence model of the recorded trainings: an encoder reads ids to a state, a decoder, with
// the same table, says them again.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/graph/output.h"

namespace sextant::conformance {

struct SequenceModelParams {
  int64_t vocabulary = 0;
  int64_t embedding = 0;
  int64_t units = 0;
  std::string cell = "gru";  // or "lstm"
};

// ids [batch, time] → logits [batch, time, vocabulary]. The decoder is told the true previous id
// when training, else it takes the likeliest; it begins with id 0.
Output SequenceModelLogits(Output ids, const SequenceModelParams& params, bool training);

}  // namespace sextant::conformance
