// `sextant train MODEL`, `sextant eval` and `sextant export`: registered models (models/registry.h)
// on the command line.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "sextant/cli/command.h"
#include "sextant/models/registry.h"

namespace sextant::cli {

// Serves the exports that appear below "base_path" at a port; stops when what it returns is
// destroyed.
using StartServing = std::function<std::shared_ptr<void>(
    const std::string& model, const std::string& base_path, int64_t port)>;

// Without "start_serving", which only `sextant-net` has, training with --serve goes on there.
void AddTrainCommand(Command& program, StartServing start_serving = {});
void AddEvalCommand(Command& program);
void AddExportCommand(Command& program);

struct TrainFlags {
  std::string model_dir, data, schedule = "train_and_evaluate", export_format, exporter = "final",
                               export_name, eval_name, warm_start_from, verbosity,
                               reduction = "tree", input_sharding = "leases";
  std::vector<std::string> train_files, eval_files;
  int64_t seed = -1, threads = 0, devices = 1, save_summary_steps = 100, save_checkpoints_steps = 0,
          keep_checkpoint_max = 5, log_step_count_steps = 100, throttle_steps = 0,
          warmup_requests = 0;
  double save_checkpoints_secs = 0, throttle_secs = 600;
  bool json = false;
  // In a cluster: replicas_to_aggregate gradients are averaged; 0: one of each task that trains.
  bool sync = false, deterministic = false;
  int64_t replicas_to_aggregate = 0;
  int64_t max_staleness = -1;  // of asynchronous updates; -1: any
  std::string stale_updates = "drop";
  int64_t serve = 0;           // a port: exports are served there while training runs and after
  StartServing start_serving;  // needed for that
};
// Trains, evaluates and exports; prints the result to `out`. Throws CANCELLED after a signal:
// what was trained is saved.
void TrainModel(const models::RegisteredModel& model, const HParams& params,
                const TrainFlags& flags, std::ostream& out);

struct EvalFlags {
  std::string model_dir, model, hparams, data, checkpoint, name;
  std::vector<std::string> eval_files;
  int64_t steps = -1;  // -1: those of the training
  bool json = false;
};
void EvalModel(const EvalFlags& flags, std::ostream& out);

struct ExportFlags {
  std::string model_dir, model, hparams, out, receiver, checkpoint;
  bool as_text = false;
};
// Prints the directory of the export.
void ExportModel(const ExportFlags& flags, std::ostream& out);

}  // namespace sextant::cli
