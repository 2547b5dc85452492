// A request of more rows than a batch may have: run in parts, answered as a whole.
#pragma once

#include <vector>

#include "sextant/serving/batch.h"

namespace sextant::serving {

// Splits a task into tasks of at most "most_rows" rows. Its "done" is called when all of them are
// done, with an error where one has failed.
std::vector<BatchTask> SplitTask(BatchTask task, int64_t most_rows);

}  // namespace sextant::serving
