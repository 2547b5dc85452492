// Batch: requests of one signature joined for one run, and its outputs cut for them again.
#pragma once

#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/serving/batcher.h"

namespace sextant::serving {

struct BatchTask {
  InferenceRequest request;
  InferenceDone done;
  int64_t rows = 1;
  Clock::time_point arrived;
};

// Rows of a request: the first dimension of its inputs, or 1 where they cannot be batched. Throws
// INVALID_ARGUMENT when inputs differ in it.
int64_t RowsOf(const InferenceRequest& request);

// Whether both may be in one batch. With "pad", sizes other than the first may differ.
bool Joinable(const InferenceRequest& a, const InferenceRequest& b, bool pad);

// An output of the parts of a large request, rows behind each other.
Tensor Concatenated(const std::vector<std::vector<Tensor>>& parts, size_t output);

// Runs the tasks, which are joinable, as one batch, padded with copies of rows up to the next of
// "sizes". Calls every "done". A signature whose outputs do not have a row for each row of its
// inputs is run request by request, now and later. "share": by the team of threads; else on this
// thread alone. "computed" is called once, before the first "done".
BatchReport RunBatch(std::vector<BatchTask>& tasks, std::span<const int64_t> sizes, bool share,
                     Clock::time_point now, FunctionRef<void()> computed);

}  // namespace sextant::serving
