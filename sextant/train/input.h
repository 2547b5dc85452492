// Input pipelines of TensorFlow 1: queues that runners (queue_runner.h) keep filled. For new
// programs data::Dataset is simpler and faster.
//
//   Output files = StringInputProducer(MatchingFiles(pattern), {.num_epochs = 2});
//   ReadRecord record = ReaderRead(TFRecordReaderOp(), files);
//   auto batch = Batch({record.value}, 32);
//   session.Run(VariablesInitializer(CollectedVariables(kLocalVariables)));   // counts of epochs
//   StartQueueRunners(session, coordinator);
//
// Each function adds its queue's runner to the current graph.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::train {

struct SEXTANT_API InputProducerOptions {
  std::optional<int64_t> num_epochs;  // none: for ever
  bool shuffle = true;                // anew in every epoch
  std::optional<int64_t> seed;
  int64_t capacity = 32;
};
// A queue of the rows of "values", again and again.
Output InputProducer(Output values, const InputProducerOptions& options = {});
// The same of strings, of which there must be one at least when it runs.
Output StringInputProducer(Output strings, const InputProducerOptions& options = {});

struct SEXTANT_API QueueBatchOptions {
  int num_threads = 1;  // that run what makes the tensors
  int64_t capacity = 32;
  bool enqueue_many = false;  // the tensors are batches of elements already
  bool dynamic_pad = false;   // sizes that are not known are padded to the largest of a batch
  bool allow_smaller_final_batch = false;
};
// Batches of what the tensors are, Run after Run.
std::vector<Output> Batch(const std::vector<Output>& tensors, int64_t batch_size,
                          const QueueBatchOptions& options = {});

struct SEXTANT_API ShuffleBatchOptions {
  QueueBatchOptions batch;
  int64_t min_after_dequeue = 0;  // elements that stay for shuffling
  std::optional<int64_t> seed;
};
// The same in random order.
std::vector<Output> ShuffleBatch(const std::vector<Output>& tensors, int64_t batch_size,
                                 const ShuffleBatchOptions& options);

}  // namespace sextant::train

#pragma GCC visibility pop
