// EmbeddingLookup: rows of a table by id.
//
//   Output rows = EmbeddingLookup(table, ids);     // ids [batch, n] → rows [batch, n, width]
//
// The rows are gathered where the table is, those of a table in parts part by part: in a cluster
// only ids and rows travel. The gradient of each part is sparse. Small tables whose parts are all
// in one place are joined instead, which is faster there.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/nn/get_variable.h"

#pragma GCC visibility push(default)

namespace sextant {

// Which part has the row of an id, for n parts: kDiv, those of PartitionedVariable, ranges that
// differ by one row at most; kMod, part id mod n, there row id / n.
enum class PartitionStrategy { kDiv, kMod };

Output EmbeddingLookup(const Variable& table, Output ids);
// The table is cut along its first dimension; throws INVALID_ARGUMENT otherwise.
Output EmbeddingLookup(const PartitionedVariable& table, Output ids,
                       PartitionStrategy strategy = PartitionStrategy::kDiv);

}  // namespace sextant

#pragma GCC visibility pop
