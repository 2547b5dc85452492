// SegmentSum, -Mean, -Max, -Min, -Prod and UnsortedSegmentSum, -Max, -Min, -Prod: reductions of
// rows that have the same segment id.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// y[s] = the rows data[i] with segment_ids[i] == s, folded. The ids are sorted; as many results as
// the last id plus one; ids that do not occur give 0 (SegmentProd: 1).
Output SegmentSum(Output data, Output segment_ids);
Output SegmentMean(Output data, Output segment_ids);
Output SegmentMax(Output data, Output segment_ids);
Output SegmentMin(Output data, Output segment_ids);
Output SegmentProd(Output data, Output segment_ids);

// The same with ids in any order and of any rank: data.shape starts with segment_ids.shape.
// Negative ids are left out; ids that do not occur give what folding nothing gives (0, 1, lowest,
// highest).
Output UnsortedSegmentSum(Output data, Output segment_ids, const IndexArg& num_segments);
Output UnsortedSegmentMax(Output data, Output segment_ids, const IndexArg& num_segments);
Output UnsortedSegmentMin(Output data, Output segment_ids, const IndexArg& num_segments);
Output UnsortedSegmentProd(Output data, Output segment_ids, const IndexArg& num_segments);

}  // namespace sextant

#pragma GCC visibility pop
