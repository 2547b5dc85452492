// Bincount, DenseBincount, HistogramFixedWidth: counting values.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// y[v] = number of the elements of arr that equal v, or the sum of their weights; "weights" is
// empty or as large as arr. Values not below size are left out, negative ones are an error.
Output Bincount(Output arr, Output size, Output weights);

struct SEXTANT_API DenseBincountOptions {
  bool binary_output = false;  // 1 where a value occurs, whatever how often
};
// The same for a vector, or for each row of a matrix.
Output DenseBincount(Output input, Output size, Output weights,
                     const DenseBincountOptions& options = {});

struct SEXTANT_API HistogramOptions {
  DType dtype = DType::kInt32;
};
// Counts of the values in nbins equal parts of the range; values outside count in the first and
// last bin.
Output HistogramFixedWidth(Output values, Output value_range, Output nbins,
                           const HistogramOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
