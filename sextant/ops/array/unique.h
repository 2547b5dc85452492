// Unique, UniqueWithCounts, ListDiff: distinct elements, and elements of one list that are not in
// another.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API UniqueOutputs {
  Output y;      // the distinct elements in the order they first occur
  Output index;  // per element of x: where in y it is
  Output count;  // per element of y: how often it occurs; only from UniqueWithCounts
};

// Of a vector.
UniqueOutputs Unique(Output x, DType out_idx = DType::kInt32);
UniqueOutputs UniqueWithCounts(Output x, DType out_idx = DType::kInt32);

struct SEXTANT_API ListDiffOutputs {
  Output out;    // the elements of x that are not in y, in order
  Output index;  // their positions in x
};
ListDiffOutputs ListDiff(Output x, Output y, DType out_idx = DType::kInt32);

}  // namespace sextant

#pragma GCC visibility pop
