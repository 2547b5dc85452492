// SparseCross, SparseCrossHashed, SparseCrossV2: crosses of categorical features: for each row of a
// batch, all combinations of one feature per column.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// The columns, matrices of int64 or string with one row per example. In a combination the sparse
// columns come first.
struct SEXTANT_API CrossColumns {
  std::vector<SparseTensor> sparse;  // columns of any number of values
  std::vector<Output> dense;         // columns of one value a row
};

struct SEXTANT_API SparseCrossOptions {
  int64_t num_buckets = 0;          // 0: hashes are below 2^63 - 1
  int64_t hash_key = 956888297470;  // TensorFlow's default
};
// Hashes of the combinations, modulo num_buckets: fingerprints of the features (integers as they
// are) chained with FingerprintCat64, starting from hash_key. The last column varies fastest.
SparseTensor SparseCrossHash(const CrossColumns& columns, const SparseCrossOptions& options = {});
// The combinations as text: features joined by "_X_".
SparseTensor SparseCrossText(const CrossColumns& columns);

// As SparseCrossHash, but without a key, and integers in sparse columns are hashed by their low
// half. num_buckets is a scalar tensor. A strong hash is SipHash with the two numbers of "salt" as
// key.
struct SEXTANT_API SparseCrossHashedOptions {
  bool strong_hash = false;
  int64_t salt[2] = {0, 0};
};
SparseTensor SparseCrossHashed(const CrossColumns& columns, Output num_buckets,
                               const SparseCrossHashedOptions& options = {});
// Features joined by the scalar "separator".
SparseTensor SparseCrossV2(const CrossColumns& columns, Output separator);

}  // namespace sextant

#pragma GCC visibility pop
