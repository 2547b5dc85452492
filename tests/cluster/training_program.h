// What the programs of the cluster scenarios share: flags, and a file that says where a process is.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "sextant/sextant.h"

namespace sextant::cluster_scenarios {

struct Arguments {
  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      const bool has_value = i + 1 < argc && std::string_view(argv[i + 1]).substr(0, 2) != "--";
      values[name] = has_value ? argv[++i] : "1";
    }
  }

  bool Has(const std::string& name) const { return values.contains(name); }
  std::string Text(const std::string& name, const std::string& otherwise = "") const {
    const auto it = values.find(name);
    return it == values.end() ? otherwise : it->second;
  }
  int64_t Number(const std::string& name, int64_t otherwise) const {
    const auto it = values.find(name);
    return it == values.end() ? otherwise : std::atoll(it->second.c_str());
  }

  std::map<std::string, std::string> values;
};

// Where this process is, for who watches: rewritten by each step.
class TellProgress : public train::Hook {
 public:
  explicit TellProgress(std::string path) : path_(std::move(path)) {}
  void AfterRun(train::RunContext& run) override {
    const std::string text = fmt::format("{} {}\n", getpid(), run.global_step());
    std::ofstream(path_ + ".new") << text;
    std::rename((path_ + ".new").c_str(), path_.c_str());
  }

 private:
  const std::string path_;
};

class StopByFile : public train::Hook {
 public:
  explicit StopByFile(std::string path) : path_(std::move(path)) {}
  void AfterRun(train::RunContext& run) override {
    if (access(path_.c_str(), F_OK) == 0) run.RequestStop();
  }

 private:
  const std::string path_;
};

// Ends the training in the middle: a loss that is no number is the model's, the rest is thrown
// here.
class FailAt : public train::Hook {
 public:
  FailAt(int64_t step, std::string how) : step_(step), how_(std::move(how)) {}
  void AfterRun(train::RunContext& run) override {
    if (run.global_step() < step_) return;
    if (how_ == "exception") throw std::runtime_error("as --fail says");
    if (how_ == "internal") throw Internal("as --fail says");
    if (how_ == "crash") std::abort();
  }

 private:
  const int64_t step_;
  const std::string how_;
};

// Each element takes `ms` at least, so that there is time for faults.
inline data::Dataset Paced(const data::Dataset& dataset, int64_t ms) {
  if (ms <= 0) return dataset;
  return dataset.Map([ms](const data::Element& element) {
    std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return element;
  });
}

// --save_steps, --keep, --lease, --peers_lost, --partition_bytes, --sync [R], --deterministic: the
// first of a training of this program.
inline RunConfig ConfigOf(const Arguments& flags) {
  RunConfig config{.model_dir = flags.Text("--model_dir"),
                   .random_seed = 1,
                   .save_summary_steps = 0,
                   .save_checkpoints_steps = flags.Number("--save_steps", 50),
                   .keep_checkpoint_max = static_cast<int>(flags.Number("--keep", 5)),
                   .log_step_count_steps = 50};
  config.cluster.lease_secs = static_cast<double>(flags.Number("--lease", 5));
  config.cluster.peers_lost_secs = static_cast<double>(flags.Number("--peers_lost", 600));
  config.cluster.partition_bytes =
      flags.Number("--partition_bytes", config.cluster.partition_bytes);
  if (flags.Has("--max_staleness"))
    config.cluster.max_staleness = flags.Number("--max_staleness", 0);
  config.cluster.stale_updates = flags.Text("--stale_updates", "drop");
  config.cluster.sync = flags.Has("--sync");
  config.cluster.replicas_to_aggregate = static_cast<int>(flags.Number("--sync", 0));
  config.cluster.deterministic = flags.Has("--deterministic");
  return config;
}

// Trains as the task that TF_CONFIG says; an evaluator, if there is one, takes one batch.
inline void TrainAsTask(const Estimator& estimator, const Arguments& flags, const InputFn& input,
                        const InputFn& eval_input) {
  TrainSpec train{.input_fn = input};
  if (const int64_t steps = flags.Number("--max_steps", 0); steps > 0) train.max_steps = steps;
  if (const std::string path = flags.Text("--progress"); !path.empty())
    train.hooks.push_back(std::make_shared<TellProgress>(path));
  if (const std::string path = flags.Text("--stop_file"); !path.empty())
    train.hooks.push_back(std::make_shared<StopByFile>(path));
  if (const std::string how = flags.Text("--fail"); !how.empty())
    train.hooks.push_back(std::make_shared<FailAt>(flags.Number("--fail_at", 10), how));
  const EvalSpec eval{
      .input_fn = eval_input, .steps = 1, .start_delay_secs = 0, .throttle_secs = 0};
  const auto result = TrainAndEvaluate(estimator, train, eval);
  fmt::print("ended at step {}\n", result.global_step);
}

}  // namespace sextant::cluster_scenarios
