// Task: which part of a cluster this process is.
//
//   Task task = TaskFromTfConfig(R"({"cluster": {"chief": ["a:1"], "ps": ["b:1"]},
//                                    "task": {"type": "ps", "index": 0}})");
//   task.type == "ps", task.num_ps == 1
//
// The chief is the job "chief", else "master", else worker 0. What is told is as TensorFlow's
// RunConfig (1.4 to 2.15) has it, beside what TensorFlow refuses: clusters of workers alone, and
// those that other platforms describe (task_config.h). A cluster without a "chief" whose
// "environment" is "cloud" or "local" is counted by the rules of 2017, when that key was made: only
// tasks of the job "worker" are workers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sextant/base/export.h"
#include "sextant/dist/cluster_spec.h"

#pragma GCC visibility push(default)

namespace sextant::dist {

struct SEXTANT_API Task {
  // Without evaluators, which never connect. Empty: one process on its own, or an evaluator. In a
  // dynamic cluster the address of a task that this one is not told is "".
  ClusterSpec cluster;
  std::string type = "worker";
  int index = 0;
  // Of this task. Where it is not told, "0.0.0.0" and the port of its job, or 2222.
  std::string address;
  std::string master;                 // where sessions run, "grpc://…"; "" this process
  std::string evaluation_master;      // the same of evaluations
  std::string environment = "local";  // "cloud", "google": workers start no server of their own
  std::string model_dir;              // "": not given
  int num_ps = 0;
  int num_workers = 1;  // chief or master included, but for the rules of 2017
  bool is_chief = true;
  // Among all tasks: the chief, the other jobs by name, the parameter servers. An evaluator has
  // none.
  std::optional<int> global_id = 0;
  // Among the num_replicas tasks that train: the chief is 0, then the workers. Parameter servers
  // and evaluators have none.
  std::optional<int> rank = 0;
  int num_replicas = 1;
  // Workers come and go, and a task may not be told of the others (Kubeflow's enableDynamicWorker).
  bool dynamic = false;

  // Trains in this process alone: there is no cluster, or one of a single task.
  bool local() const;
};

// Throws INVALID_ARGUMENT, naming the key and what it should be.
Task TaskFromTfConfig(std::string_view json);
// Of the environment variables that platforms set (task_config.h); without them a process on its
// own.
Task TaskFromEnvironment();

}  // namespace sextant::dist

#pragma GCC visibility pop
