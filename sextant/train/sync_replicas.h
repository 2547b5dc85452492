// SyncReplicas: synchronous training by several workers of a cluster. Each computes a gradient on
// its own batch; the mean of R of them is applied, once, and the global step grows by one.
//
//   auto optimizer = train::SyncReplicas(train::Momentum({.learning_rate = 0.1, .momentum = 0.9}),
//                                        {.replicas_to_aggregate = 2, .total_num_replicas = 2});
//
// With more workers than R the slowest are backups, whose gradients come too late and are dropped;
// with fewer, workers contribute several gradients to a step. A worker that dies, or has no more
// data, is replaced by the others, which contribute more. In one process every gradient is applied
// by itself.
//
// Rows of tables: each worker adds up its equal rows before they are sent; the rows of all workers
// are put together, divided by R, and equal ones added up.
#pragma once

#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::train {

struct SEXTANT_API SyncReplicasOptions {
  int replicas_to_aggregate = 1;
  int total_num_replicas = 0;  // workers that train; 0: replicas_to_aggregate
  // Gradients are added in the order of the workers' ranks, one of each, and a step waits for a
  // worker that died until it is back: two runs give the same bits. Needs as many replicas to
  // aggregate as there are in all.
  bool deterministic = false;
};

// Throws INVALID_ARGUMENT for fewer than one replica.
Optimizer SyncReplicas(const Optimizer& optimizer, const SyncReplicasOptions& options);

// Inside, every optimizer is synchronous that is not already: for models that choose their own.
class SEXTANT_API SyncReplicasScope {
 public:
  explicit SyncReplicasScope(const SyncReplicasOptions& options);
  ~SyncReplicasScope();
  SyncReplicasScope(const SyncReplicasScope&) = delete;
  SyncReplicasScope& operator=(const SyncReplicasScope&) = delete;

 private:
  const SyncReplicasOptions options_;
  const SyncReplicasOptions* const outer_;
};

}  // namespace sextant::train

#pragma GCC visibility pop
