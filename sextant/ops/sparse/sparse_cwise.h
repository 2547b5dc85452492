// SparseDenseCwiseAdd, -Mul, -Div, SparseSoftmax: arithmetic between the entries of a sparse tensor
// and a dense one that is broadcast to its shape.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

namespace sextant {

// Values of the result's entries, which stand where those of x do: x[k] op y[where entry k stands].
Output SparseDenseCwiseAdd(const SparseTensor& x, Output y);
Output SparseDenseCwiseMul(const SparseTensor& x, Output y);
// A zero divisor is an error, for floats too.
Output SparseDenseCwiseDiv(const SparseTensor& x, Output y);

// Softmax over the entries of each row (last dimension); what is missing takes no part. Values of
// the result's entries.
Output SparseSoftmax(const SparseTensor& x);

}  // namespace sextant
