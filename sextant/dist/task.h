// Task: which part of a cluster this process is, as TF_CONFIG says.
//
//   Task task = TaskFromTfConfig(R"({"cluster": {"chief": ["a:1"], "ps": ["b:1"]},
//                                    "task": {"type": "ps", "index": 0}})");
//   task.type == "ps", task.num_ps == 1
//
// The rules are those of TensorFlow's RunConfig (1.4 to 2.15). A cluster without a "chief" whose
// "environment" is "cloud" or "local" goes by those of 2017, when that key was made: the chief is
// master 0 (cloud) or worker 0 (local), and only tasks of the job "worker" count as workers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sextant/base/export.h"
#include "sextant/dist/cluster_spec.h"

#pragma GCC visibility push(default)

namespace sextant::dist {

struct SEXTANT_API Task {
  ClusterSpec cluster;  // empty: one process on its own
  std::string type = "worker";
  int index = 0;
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

  bool local() const { return cluster.empty() && type == "worker"; }
};

// Throws INVALID_ARGUMENT, naming the key and what it should be.
Task TaskFromTfConfig(std::string_view json);
// Of the environment variable TF_CONFIG; without it a process on its own.
Task TaskFromEnvironment();

}  // namespace sextant::dist

#pragma GCC visibility pop
