// StringSplit, StringSplitV2: strings split by a separator.
#pragma once

#include <cstdint>

#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API StringSplitOptions {
  bool skip_empty = true;  // empty tokens are left out
};
// The tokens of each element of a vector between any of the characters of a scalar "delimiter";
// without such characters, its bytes. Row i of the result holds the tokens of element i.
SparseTensor StringSplit(Output x, Output delimiter, const StringSplitOptions& options = {});

struct SEXTANT_API StringSplitV2Options {
  int64_t maxsplit = -1;  // the most cuts; negative: no limit
};
// The tokens of each element between occurrences of the string "sep", as Python's str.split: an
// empty sep means any white space, and no empty tokens.
SparseTensor StringSplitV2(Output x, Output sep, const StringSplitV2Options& options = {});

}  // namespace sextant

#pragma GCC visibility pop
