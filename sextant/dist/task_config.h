// TaskConfig: what the platforms' environment variables say about a cluster and this process,
// before the roles are worked out (task.h).
//
// | variable | of | form |
// |---|---|---|
// | TF_CONFIG | TensorFlow, Kubeflow, AI Platform, SageMaker, TonY | {"cluster": {"worker": [...]},
// "task": {...}} | | CLUSTER_SPEC | Vertex AI | the same with jobs workerpool0 to 3: chief,
// workers, ps, evaluators | | CLUSTER_SPEC, JOB_NAME, TASK_INDEX | TonY | the cluster alone; the
// task beside it | | PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR, PET_MASTER_PORT | Kubeflow Trainer
// | rank 0 is the chief |
//
// A job is a list of addresses or, where Kubeflow's workers come and go ("enableDynamicWorker"), an
// object {index: address} that holds only the tasks this one may know. Jobs are compared without
// regard to case, empty addresses are dropped, unknown keys are ignored.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "sextant/dist/cluster_spec.h"

namespace sextant::dist {

struct TaskConfig {
  std::string source = "TF_CONFIG";  // the variable, for messages
  // Without jobs that have no task. "" is the address of a task that is not told.
  ClusterSpec cluster = {};
  bool dynamic = false;  // some job is an object
  std::string type = {};
  std::optional<int> index = {};
  std::string environment = {}, model_dir = {};
  std::string session_master = {}, evaluation_master = {};
};

// Of the JSON of TF_CONFIG or, by `source`, CLUSTER_SPEC. Throws INVALID_ARGUMENT, naming the
// variable and the key.
TaskConfig ParseTaskConfig(std::string_view json, const std::string& source = "TF_CONFIG");

// The value of a variable; nullptr: not set.
using Variables = std::function<const char*(const char* name)>;

// The first of TF_CONFIG, CLUSTER_SPEC and PET_* that is there. Throws INVALID_ARGUMENT.
std::optional<TaskConfig> FindTaskConfig(const Variables& variables);

}  // namespace sextant::dist
