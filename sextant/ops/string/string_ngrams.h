// StringNGrams: runs of neighbouring strings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API StringNGramsOptions {
  std::string separator;              // between the strings of a run
  std::vector<int64_t> ngram_widths;  // lengths of the runs
  std::string left_pad, right_pad;    // before and after each row
  int64_t pad_width = -1;             // pads at each end, at most width - 1; -1: width - 1
  // A row too short for any width gives one run of all it has.
  bool preserve_short_sequences = false;
};
struct SEXTANT_API NGrams {
  Output ngrams;
  Output ngrams_splits;
};
// All runs of each width in each row of the ragged matrix (data, data_splits), joined to one string
// each, row by row and width by width.
NGrams StringNGrams(Output data, Output data_splits, const StringNGramsOptions& options);

}  // namespace sextant

#pragma GCC visibility pop
