// FIFOQueue, PaddingFIFOQueue, PriorityQueue, RandomShuffleQueue, QueueEnqueue, QueueDequeue: the
// queues of TensorFlow 1, which hand tuples of tensors from one Run to another. An enqueue blocks
// while the queue is full, a dequeue while it is empty, each in its own thread's Run, until the
// other side runs, the queue is closed, or the Run is cancelled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/tensor/shape.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API QueueOptions {
  int64_t capacity = -1;             // tuples; below 1: no limit
  std::vector<PartialShape> shapes;  // of the components; none: any, but then no batches
  std::string name;                  // of the node
  std::string container;
  std::string shared_name;  // nodes that give the same share one queue
};

// First in, first out. The handle.
Output FIFOQueue(const std::vector<DType>& types, const QueueOptions& options = {});
// The same, whose batches are padded with zeros: unknown sizes of "shapes" become the largest of
// the batch.
Output PaddingFIFOQueue(const std::vector<DType>& types, const QueueOptions& options);

struct SEXTANT_API RandomShuffleQueueOptions {
  QueueOptions queue;
  int64_t min_after_dequeue = 0;  // elements that stay for shuffling until the queue is closed
  int64_t seed = 0, seed2 = 0;    // both 0: another order every time
};
// Gives a random one of its tuples.
Output RandomShuffleQueue(const std::vector<DType>& types,
                          const RandomShuffleQueueOptions& options = {});
// Tuples begin with an int64 scalar, which is not named in "types"; the lowest comes first.
Output PriorityQueue(const std::vector<DType>& types, const QueueOptions& options);

// Adds one tuple.
Operation QueueEnqueue(Output queue, const std::vector<Output>& components);
// Adds one tuple for each row of the components.
Operation QueueEnqueueMany(Output queue, const std::vector<Output>& components);
// Takes a tuple. OUT_OF_RANGE when the queue is closed and empty.
std::vector<Output> QueueDequeue(Output queue);
// Takes n tuples as one batch; when the queue is closed with fewer, none and OUT_OF_RANGE.
std::vector<Output> QueueDequeueMany(Output queue, Output n);
// The same, but gives what there is when the queue is closed with fewer, at least one.
std::vector<Output> QueueDequeueUpTo(Output queue, Output n);
// No more is added. Enqueues that wait are let in first, or end with CANCELLED.
Operation QueueClose(Output queue, bool cancel_pending_enqueues = false);
// Tuples in the queue, int32.
Output QueueSize(Output queue);
Output QueueIsClosed(Output queue);

}  // namespace sextant

#pragma GCC visibility pop
