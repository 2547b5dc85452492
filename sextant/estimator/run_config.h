// RunConfig: how a model is trained, apart from what it is: where its files go, how often they are
// written, on which devices it runs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/dist/task.h"
#include "sextant/runtime/session.h"

#pragma GCC visibility push(default)

namespace sextant {

// Several devices of this process train one model: each takes batches of its own, gradients are
// averaged. See mirrored_strategy.h.
struct SEXTANT_API MirroredStrategy {
  std::vector<std::string> devices = {};  // {"/cpu:0", "/cpu:1"}; none: all of the session
  // How gradients are summed up: "one_device" (on the first), "tree" or "ring".
  std::string reduction = "tree";
};

// How the log reads.
enum class LogStyle {
  kCurrent,  // of TensorFlow 2.15
  // Of 2017 (TensorFlow 1.2 to 1.4): the config as a dictionary with the keys of that time, one
  // line for every batch of an evaluation.
  k2017,
};

// How tasks of a cluster train together. TF_CONFIG says which tasks there are.
struct SEXTANT_API ClusterConfig {
  // A task that is not heard of for this time is taken for dead; tasks say every second that they
  // live.
  double lease_secs = 5;
  // Timeout of a lost connection to parameter servers, after which the process ends with exit code
  // 138, which asks the platform to restart it.
  double peers_lost_secs = 600;
  // Variables go to the parameter servers in turn, as in TensorFlow; otherwise the largest first,
  // to the server that has least.
  bool round_robin = false;
  // Kernels, biases and tables of layers from this size on are cut along their first axis, a part
  // for each parameter server, but none below 256 KiB; checkpoints hold them whole, as slices. 0:
  // they stay whole. Canned models have rules of their own.
  int64_t partition_bytes = 4 << 20;
  // Asynchronous training: the largest staleness of an update, the number of other updates between
  // its reads and itself. Staler ones are dropped ("drop") or multiplied by 1 / (1 + staleness)
  // ("scale"); with "block", workers that are more steps than this ahead of the slowest one block.
  // None: there is no limit.
  std::optional<int64_t> max_staleness = {};
  std::string stale_updates = "drop";
  // How the tasks share out the training data: "leases" (each record once per epoch; of sources
  // that can be cut), "fixed" (by rank) or "none" (input_sharing.h).
  std::string input_sharding = "leases";
  // Synchronous training, whatever the model's optimizers (train/sync_replicas.h): every step is
  // the mean of this number of gradients; 0: of as many as tasks train.
  bool sync = false;
  int replicas_to_aggregate = 0;
  // Two runs give the same bits: see SyncReplicasOptions. Data is shared out by rank, not by
  // leases.
  bool deterministic = false;
};

struct SEXTANT_API RunConfig {
  std::string model_dir = {};  // "": that of TF_CONFIG, else a new directory for temporary files
  std::optional<int64_t> random_seed = {};
  int64_t save_summary_steps = 100;  // 0: none are written
  // Checkpoints, every n steps or seconds; one of the two at most. Neither given: every 600
  // seconds; 0 given: none.
  std::optional<int64_t> save_checkpoints_steps = {};
  std::optional<double> save_checkpoints_secs = {};
  int keep_checkpoint_max = 5;  // 0: all
  double keep_checkpoint_every_n_hours = 10000;
  int64_t log_step_count_steps = 100;
  LogStyle log_style = LogStyle::kCurrent;
  // A loss that is not a number sets the training back to a checkpoint, this number of times
  // (train/rewind_on_nan.h), before it is an error.
  int64_t nan_rewinds = 0;
  SessionOptions session = {};
  std::optional<MirroredStrategy> train_distribute = {}, eval_distribute = {};
  ClusterConfig cluster = {};
  std::string protocol = {};  // between processes: "" or "grpc", checked only: there is no other
  // If given, worker i of a cluster starts 5 (i + 1) seconds late, but not later than this.
  std::optional<int64_t> max_worker_delay_secs = {};
  // Timeout of a worker that waits for the chief to initialise the variables.
  double session_creation_timeout_secs = 7200;
  // Cancelling it, from any thread, ends what the Estimator does with CANCELLED: a training saves
  // its last whole step before, also while it waits for input. A program that wants signals to do
  // this takes the token of an InterruptScope (base/interrupt.h); the library handles none.
  std::shared_ptr<CancellationToken> cancellation = {};
  // Used instead of the environment variable TF_CONFIG.
  std::optional<std::string> tf_config = {};
  // Filled in from TF_CONFIG when an Estimator is made.
  dist::Task task = {};
};

// With model_dir and task filled in. Throws INVALID_ARGUMENT, naming the field, for a value out of
// range, two intervals of checkpoints, or a model_dir that differs from TF_CONFIG's.
RunConfig Resolve(RunConfig config);
// "model_dir: runs/a, save_summary_steps: 100, …"; in the style of 2017
// "{'_save_checkpoints_secs': 600, '_num_ps_replicas': 0, …}".
std::string Describe(const RunConfig& config);

}  // namespace sextant

#pragma GCC visibility pop
