// SparseFillEmptyRows: a default entry for every empty row of a sparse matrix.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API FilledRows {
  SparseTensor sparse;         // without empty rows
  Output empty_row_indicator;  // bool per row: it had no entry
  Output reverse_index_map;    // per entry of the input: its place in the output
};
// The input, its entries grouped by row, with default_value put at the start of rows without
// entries.
FilledRows SparseFillEmptyRows(const SparseTensor& sparse, Output default_value);

}  // namespace sextant

#pragma GCC visibility pop
