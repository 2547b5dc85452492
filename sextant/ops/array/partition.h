// DynamicPartition, DynamicStitch, ParallelDynamicStitch: rows sorted into partitions by number,
// and rows merged by index.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Output p holds the slices data[i] for which partitions[i] = p, in order.
std::vector<Output> DynamicPartition(Output data, Output partitions, int64_t num_partitions);
// merged[indices[m][i]] = data[m][i]; of several for one place the last. Places named by none are
// zero.
Output DynamicStitch(const std::vector<Output>& indices, const std::vector<Output>& data);
// The same; which of several for one place stays is unspecified.
Output ParallelDynamicStitch(const std::vector<Output>& indices, const std::vector<Output>& data);

}  // namespace sextant

#pragma GCC visibility pop
