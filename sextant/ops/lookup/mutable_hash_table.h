// MutableHashTable, MutableHashTableOfTensors, MutableDenseHashTable: tables changed by
// LookupTableInsert, LookupTableRemove and LookupTableImport of hash_table.h.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/lookup/hash_table.h"

#pragma GCC visibility push(default)

namespace sextant {

// The handle of a table with scalar values.
Output MutableHashTable(DType key_dtype, DType value_dtype, const TableOptions& options = {});
// The handle of a table whose values are vectors of this shape.
Output MutableHashTableOfTensors(DType key_dtype, DType value_dtype, const Shape& value_shape,
                                 const TableOptions& options = {});

struct SEXTANT_API MutableDenseHashTableOptions {
  Shape value_shape;
  int64_t initial_num_buckets = 131072;  // a power of two
  float max_load_factor = 0.8f;
  TableOptions table;
};
// The handle of a table in plain memory, exported bucket by bucket. The two keys, which mark free
// buckets, cannot be used; keys have their shape.
Output MutableDenseHashTable(Output empty_key, Output deleted_key, DType value_dtype,
                             const MutableDenseHashTableOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
