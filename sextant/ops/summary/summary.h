// ScalarSummary, HistogramSummary, TensorSummary, MergeSummary: serialized Summary messages that
// event files hold and TensorBoard shows.
#pragma once

#include <string>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// One value for each tag; tags and values have one shape.
Output ScalarSummary(Output tags, Output values);
// The distribution of the values. Not-a-number and infinity are INVALID_ARGUMENT.
Output HistogramSummary(Output tag, Output values);
// A tensor with metadata: a serialized SummaryMetadata that names the plugin which shows it.
Output TensorSummary(Output tag, Output tensor, Output serialized_summary_metadata);
// All values of serialized summaries in one. Tags that occur twice are INVALID_ARGUMENT.
Output MergeSummary(const std::vector<Output>& summaries);

}  // namespace sextant

#pragma GCC visibility pop
