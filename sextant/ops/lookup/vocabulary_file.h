// Reads the keys and values of a table from a text file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "sextant/tensor/tensor.h"

namespace sextant {

struct VocabularyFileOptions {
  static constexpr int64_t kWholeLine = -2, kLineNumber = -1;
  // A column, counted from 0, or one of the above.
  int64_t key_index = kWholeLine, value_index = kLineNumber;
  int64_t vocab_size = -1;  // lines to read; -1: all
  char delimiter = '\t';
  int64_t offset = 0;  // of line numbers
};

// (keys, values), vectors with an element per line. Throws INVALID_ARGUMENT, naming file and line,
// on empty lines, missing columns, text that is no number, and fewer lines than vocab_size;
// OUT_OF_RANGE when there is none; and what the file system throws.
std::pair<Tensor, Tensor> ReadVocabularyFile(const std::string& path, DType key_dtype,
                                             DType value_dtype,
                                             const VocabularyFileOptions& options);

}  // namespace sextant
