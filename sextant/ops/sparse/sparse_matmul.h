// SparseTensorDenseMatMul: product of a sparse and a dense matrix.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API SparseTensorDenseMatMulOptions {
  bool adjoint_a = false;  // a is transposed first
  bool adjoint_b = false;
};
// y[i, j] = sum over k of a[i, k] * b[k, j]. Entries of a may come in any order and repeat.
Output SparseTensorDenseMatMul(const SparseTensor& a, Output b,
                               const SparseTensorDenseMatMulOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
