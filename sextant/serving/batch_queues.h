// BatchQueues: requests that wait, a queue per signature, whose front has waited longest. Not
// thread-safe, but for num_waiting.
#pragma once

#include <atomic>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "sextant/serving/batch.h"

namespace sextant::serving {

struct BatchQueue {
  const ServableSignature* signature = nullptr;
  std::deque<BatchTask> tasks;
  int64_t rows = 0;
  bool forming = false;  // a thread waits for more
  // When it refused a request for the first time since it was empty.
  std::optional<Clock::time_point> refused_since;
};

class BatchQueues {
 public:
  using Ref = std::list<BatchQueue>::iterator;
  BatchQueues(const BatchingConfig& config, int64_t num_threads)
      : config_(config), num_threads_(num_threads) {}

  // False, and the task is left, where its queue has no room.
  bool TryAdd(BatchTask& task);
  // Whether a request of one row, which is there now, must be refused.
  bool Refuses(const ServableSignature& signature, Clock::time_point now);

  Ref end() { return queues_.end(); }
  Ref Find(const ServableSignature& signature);
  // The queue with the oldest front that nobody forms a batch of.
  Ref Oldest();
  // How many rows the next batch of the queue may have.
  int64_t BatchRows(const BatchQueue& queue) const;
  // The next batch, of requests that can be joined; others stay in their order, so nobody waits for
  // ever. What is late or cancelled goes to "dropped". An empty queue is no more: signatures live
  // as long as their servables, which requests hold.
  std::vector<BatchTask> Take(Ref queue, Clock::time_point now, std::vector<BatchTask>* dropped);
  // All that wait.
  std::vector<BatchTask> TakeAll();

  // Requests. From any thread.
  int64_t num_waiting() const { return num_waiting_.load(std::memory_order_relaxed); }

 private:
  // For one more request of "rows" rows.
  bool HasRoom(BatchQueue& queue, int64_t rows, Clock::time_point now) const;

  const BatchingConfig& config_;
  const int64_t num_threads_;
  std::list<BatchQueue> queues_;
  std::atomic<int64_t> num_waiting_{0};
};

}  // namespace sextant::serving
