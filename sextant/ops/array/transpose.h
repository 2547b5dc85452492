// Transpose, ConjugateTranspose, InvertPermutation: permuting dimensions.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// y[i_perm[0], i_perm[1], ...] = x[i_0, i_1, ...]: dimension k of y is dimension perm[k] of x.
Output Transpose(Output x, const IndexArg& perm);
// Transpose of the complex conjugate.
Output ConjugateTranspose(Output x, const IndexArg& perm);
// y[x[i]] = i for a permutation x of 0 ... n-1.
Output InvertPermutation(Output x);

}  // namespace sextant

#pragma GCC visibility pop
