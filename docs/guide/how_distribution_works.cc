// Chapter 10: what RunConfig makes of TF_CONFIG.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

void Print(const char* who, const std::string& tf_config) {
  const sx::RunConfig config = sx::Resolve({.tf_config = tf_config});
  const sx::dist::Task& task = config.task;
  fmt::print("{}\n", who);
  fmt::print("  task_type: {}, task_id: {}, is_chief: {}\n", task.type, task.index, task.is_chief);
  fmt::print("  num_ps_replicas: {}, num_worker_replicas: {}\n", task.num_ps, task.num_workers);
  fmt::print("  master: '{}', model_dir: {}\n", task.master, config.model_dir);
}

std::string TfConfig(const char* task) {
  return fmt::format(
      R"({{"cluster": {{"master": ["master-ip:8000"],
                        "ps": ["ps-ip:8000"],
                        "worker": ["worker-ip:8000"]}},
           "task": {},
           "model_dir": "gs://path/model_dir",
           "environment": "cloud"}})",
      task);
}

int main() {
  sx::SetLogLevel(sx::LogLevel::kWarning);
  Print("alone", R"({"model_dir": "runs/alone"})");
  Print("master", TfConfig(R"({"type": "master", "index": 0})"));
  Print("worker", TfConfig(R"({"type": "worker", "index": 0})"));
  Print("ps", TfConfig(R"({"type": "ps", "index": 0})"));
  try {
    Print("lost", TfConfig(R"({"type": "worker", "index": 3})"));
  } catch (const sx::Error& e) {
    fmt::print("lost: {}\n", e.message());
  }
}
