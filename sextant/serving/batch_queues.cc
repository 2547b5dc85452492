#include "sextant/serving/batch_queues.h"

#include <algorithm>

namespace sextant::serving {
namespace {

// A queue that has refused requests for this long without being empty is overloaded, not in a
// burst: a long queue then only adds latency.
constexpr std::chrono::milliseconds kStanding{100};

}  // namespace

// A queue that stands may hold one more batch for each thread, so that none is ever idle.
bool BatchQueues::HasRoom(BatchQueue& queue, int64_t rows, Clock::time_point now) const {
  if (queue.tasks.empty()) return true;
  const bool stands = queue.refused_since && now - *queue.refused_since > kStanding;
  const int64_t most =
      stands ? std::min(config_.max_enqueued_batches, num_threads_) : config_.max_enqueued_batches;
  const bool room = config_.enabled && queue.signature->batchable()
                        ? queue.rows + rows <= most * config_.max_batch_size
                        : static_cast<int64_t>(queue.tasks.size()) < most;
  if (!room && !queue.refused_since) queue.refused_since = now;
  return room;
}

bool BatchQueues::TryAdd(BatchTask& task) {
  Ref queue = Find(*task.request.signature);
  if (queue == queues_.end()) {
    queue = queues_.emplace(queues_.end());
    queue->signature = task.request.signature;
  }
  if (!HasRoom(*queue, task.rows, task.arrived)) return false;
  queue->rows += task.rows;
  queue->tasks.push_back(std::move(task));
  num_waiting_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool BatchQueues::Refuses(const ServableSignature& signature, Clock::time_point now) {
  const Ref queue = Find(signature);
  return queue != queues_.end() && !HasRoom(*queue, 1, now);
}

BatchQueues::Ref BatchQueues::Find(const ServableSignature& signature) {
  return std::ranges::find(queues_, &signature, &BatchQueue::signature);
}

BatchQueues::Ref BatchQueues::Oldest() {
  Ref oldest = queues_.end();
  for (Ref queue = queues_.begin(); queue != queues_.end(); ++queue) {
    if (queue->tasks.empty() || queue->forming) continue;
    if (oldest == queues_.end() || queue->tasks.front().arrived < oldest->tasks.front().arrived) {
      oldest = queue;
    }
  }
  return oldest;
}

int64_t BatchQueues::BatchRows(const BatchQueue& queue) const {
  const int64_t most = std::min(queue.rows, config_.max_batch_size);
  return config_.allowed_sizes.empty() ? queue.signature->NextBatch(most) : most;
}

std::vector<BatchTask> BatchQueues::Take(Ref queue, Clock::time_point now,
                                         std::vector<BatchTask>* dropped) {
  std::vector<BatchTask> batch;
  std::deque<BatchTask> rest;
  int64_t rows = 0;
  const int64_t most = BatchRows(*queue);
  while (!queue->tasks.empty()) {
    BatchTask task = std::move(queue->tasks.front());
    queue->tasks.pop_front();
    const bool over =
        task.request.deadline <= now || (task.request.cancelled && task.request.cancelled());
    const bool fits =
        batch.empty() ||
        (rows + task.rows <= most && task.request.signature->batchable() && config_.enabled &&
         Joinable(batch[0].request, task.request, config_.pad_variable_length_inputs));
    if (!over && !fits) {
      rest.push_back(std::move(task));
      if (!config_.enabled) break;
      continue;
    }
    queue->rows -= task.rows;
    num_waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (over) {
      dropped->push_back(std::move(task));
    } else {
      rows += task.rows;
      batch.push_back(std::move(task));
    }
    if (!config_.enabled && !batch.empty()) break;
  }
  for (auto task = rest.rbegin(); task != rest.rend(); ++task) {
    queue->tasks.push_front(std::move(*task));
  }
  if (queue->tasks.empty()) queues_.erase(queue);
  return batch;
}

std::vector<BatchTask> BatchQueues::TakeAll() {
  std::vector<BatchTask> all;
  for (BatchQueue& queue : queues_) std::ranges::move(queue.tasks, std::back_inserter(all));
  queues_.clear();
  num_waiting_ = 0;
  return all;
}

}  // namespace sextant::serving
