#include "sextant/serving/split_request.h"

#include <algorithm>
#include <memory>
#include <mutex>

namespace sextant::serving {
namespace {

struct SplitRequest {
  std::mutex mutex;
  size_t missing = 0;
  Status status;
  std::vector<std::vector<Tensor>> parts;
  InferenceDone done;

  void PartDone(size_t part, const Status& part_status, std::vector<Tensor> outputs) {
    {
      const std::lock_guard lock(mutex);
      if (!part_status.ok()) status = part_status;
      parts[part] = std::move(outputs);
      if (--missing > 0) return;
    }
    if (!status.ok()) return done(status, {});
    std::vector<Tensor> whole;
    for (size_t k = 0; k < parts[0].size(); ++k) whole.push_back(Concatenated(parts, k));
    done(Status(), std::move(whole));
  }
};

}  // namespace

std::vector<BatchTask> SplitTask(BatchTask task, int64_t most_rows) {
  const auto split = std::make_shared<SplitRequest>();
  const int64_t count = (task.rows + most_rows - 1) / most_rows;
  split->missing = static_cast<size_t>(count);
  split->parts.resize(count);
  split->done = std::move(task.done);
  std::vector<BatchTask> tasks;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * most_rows, end = std::min(task.rows, begin + most_rows);
    BatchTask part{task.request, {}, end - begin, task.arrived};
    for (Tensor& input : part.request.inputs) {
      if (input.valid()) input = input.Rows(begin, end);
    }
    part.done = [split, i](const Status& status, std::vector<Tensor> outputs) {
      split->PartDone(i, status, std::move(outputs));
    };
    tasks.push_back(std::move(part));
  }
  return tasks;
}

}  // namespace sextant::serving
