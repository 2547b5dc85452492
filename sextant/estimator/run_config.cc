#include "sextant/estimator/run_config.h"

#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/base/exit_code.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_directory.h"

namespace sextant {
namespace {

template <typename T>
void AtLeastZero(const char* field, T value) {
  if (!(value >= 0)) throw InvalidArgument("{} must be at least 0, not {}", field, value);
}

template <typename T>
void Positive(const char* field, T value) {
  if (!(value > 0)) throw InvalidArgument("{} must be greater than 0, not {}", field, value);
}

void CheckFields(const RunConfig& config) {
  AtLeastZero("save_summary_steps", config.save_summary_steps);
  AtLeastZero("save_checkpoints_steps", config.save_checkpoints_steps.value_or(0));
  AtLeastZero("save_checkpoints_secs", config.save_checkpoints_secs.value_or(0));
  if (config.save_checkpoints_steps.value_or(0) > 0 &&
      config.save_checkpoints_secs.value_or(0) > 0) {
    throw InvalidArgument(
        "save_checkpoints_steps ({}) and save_checkpoints_secs ({}) cannot both be set; leave one "
        "out",
        *config.save_checkpoints_steps, *config.save_checkpoints_secs);
  }
  AtLeastZero("keep_checkpoint_max", config.keep_checkpoint_max);
  Positive("keep_checkpoint_every_n_hours", config.keep_checkpoint_every_n_hours);
  Positive("log_step_count_steps", config.log_step_count_steps);
  AtLeastZero("nan_rewinds", config.nan_rewinds);
  Positive("cluster.lease_secs", config.cluster.lease_secs);
  const std::string& sharding = config.cluster.input_sharding;
  if (sharding != "leases" && sharding != "fixed" && sharding != "none") {
    throw InvalidArgument("cluster.input_sharding must be leases, fixed or none, not \"{}\"",
                          sharding);
  }
  const std::string& stale = config.cluster.stale_updates;
  if (stale != "drop" && stale != "scale" && stale != "block") {
    throw InvalidArgument("cluster.stale_updates must be drop, scale or block, not \"{}\"", stale);
  }
  AtLeastZero("cluster.max_staleness", config.cluster.max_staleness.value_or(0));
  if (config.cluster.max_staleness && config.cluster.sync) {
    throw InvalidArgument(
        "cluster.max_staleness is for asynchronous training; leave it or cluster.sync out");
  }
  Positive("cluster.peers_lost_secs", config.cluster.peers_lost_secs);
  AtLeastZero("cluster.partition_bytes", config.cluster.partition_bytes);
  AtLeastZero("max_worker_delay_secs", config.max_worker_delay_secs.value_or(0));
  Positive("session_creation_timeout_secs", config.session_creation_timeout_secs);
  if (!config.protocol.empty() && config.protocol != "grpc") {
    throw InvalidArgument("protocol must be \"grpc\" or empty, not \"{}\"", config.protocol);
  }
}

std::string TemporaryModelDir() {
  try {
    std::string path = NewTemporaryDirectory();
    LogWarning("Using temporary folder as model directory: {}", path);
    return path;
  } catch (const Error& e) {
    throw FailedPrecondition("{}; set model_dir", e.message());
  }
}

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/') && !path.ends_with("://")) path.pop_back();
  return path;
}

std::string ModelDir(const std::string& given, const std::string& of_tf_config) {
  if (given.empty() && of_tf_config.empty()) return TemporaryModelDir();
  if (given.empty()) {
    LogInfo("Using model_dir in TF_CONFIG: {}", of_tf_config);
    return of_tf_config;
  }
  if (!of_tf_config.empty() && WithoutSlashes(given) != WithoutSlashes(of_tf_config)) {
    throw InvalidArgument(
        "model_dir is {}, but {} in TF_CONFIG; give one of them, or the same twice", given,
        of_tf_config);
  }
  return given;
}

std::string PythonText(bool value) { return value ? "True" : "False"; }
std::string PythonText(const std::string& text) { return fmt::format("'{}'", text); }
template <typename T>
std::string PythonText(const T& number) {
  return fmt::format("{}", number);
}
template <typename T>
std::string PythonText(const std::optional<T>& value) {
  return value ? PythonText(*value) : "None";
}

// {'master': ['a:1'], 'ps': ['b:1']}
std::string PythonText(const dist::ClusterSpec& cluster) {
  std::string text;
  for (const auto& [job, addresses] : cluster) {
    std::string tasks;
    for (const std::string& address : addresses) {
      tasks += (tasks.empty() ? "" : ", ") + PythonText(address);
    }
    text += fmt::format("{}'{}': [{}]", text.empty() ? "" : ", ", job, tasks);
  }
  return "{" + text + "}";
}

// A ConfigProto as text: what is not set is not there.
std::string SessionText(const SessionOptions& session) {
  std::string text;
  if (session.threads != 0) {
    text += fmt::format("intra_op_parallelism_threads: {}\n", session.threads);
  }
  text += "gpu_options {\n}\n";
  if (session.allow_soft_placement) text += "allow_soft_placement: true\n";
  if (session.log_device_placement) text += "log_device_placement: true\n";
  return text;
}

// The keys of tf.contrib.learn's RunConfig, in the order in which it printed them.
std::string Describe2017(const RunConfig& config) {
  const dist::Task& task = config.task;
  const std::vector<std::pair<std::string, std::string>> fields = {
      {"save_checkpoints_secs", PythonText(config.save_checkpoints_secs)},
      {"num_ps_replicas", PythonText(task.num_ps)},
      {"keep_checkpoint_max", PythonText(config.keep_checkpoint_max)},
      {"task_type", PythonText(task.type)},
      {"is_chief", PythonText(task.is_chief)},
      {"cluster_spec", PythonText(task.cluster)},
      {"model_dir", PythonText(config.model_dir)},
      {"save_checkpoints_steps", PythonText(config.save_checkpoints_steps)},
      {"keep_checkpoint_every_n_hours", PythonText(config.keep_checkpoint_every_n_hours)},
      {"session_config", SessionText(config.session)},
      {"tf_random_seed", PythonText(config.random_seed)},
      {"environment", PythonText(task.environment)},
      {"num_worker_replicas", PythonText(task.num_workers)},
      {"task_id", PythonText(task.index)},
      {"save_summary_steps", PythonText(config.save_summary_steps)},
      {"tf_config", "gpu_options {\n  per_process_gpu_memory_fraction: 1.0\n}\n"},
      {"evaluation_master", PythonText(task.evaluation_master)},
      {"master", PythonText(task.master)}};
  std::string text;
  for (const auto& [key, value] : fields) {
    text += fmt::format("{}'_{}': {}", text.empty() ? "" : ", ", key, value);
  }
  return "{" + text + "}";
}

}  // namespace

RunConfig Resolve(RunConfig config) {
  UseClusterExitCodes();  // also for what is wrong with TF_CONFIG
  config.task =
      config.tf_config ? dist::TaskFromTfConfig(*config.tf_config) : dist::TaskFromEnvironment();
  if (config.task.local()) UseClusterExitCodes(false);
  CheckFields(config);
  config.model_dir = WithoutSlashes(ModelDir(config.model_dir, config.task.model_dir));
  if (!config.save_checkpoints_steps && !config.save_checkpoints_secs) {
    config.save_checkpoints_secs = 600;
  }
  return config;
}

std::string Describe(const RunConfig& config) {
  if (config.log_style == LogStyle::k2017) return Describe2017(config);
  const auto optional = [](const auto& value) {
    return value ? fmt::format("{}", *value) : std::string("none");
  };
  std::string text = fmt::format(
      "model_dir: {}, random_seed: {}, save_summary_steps: {}, save_checkpoints_steps: {}, "
      "save_checkpoints_secs: {}, keep_checkpoint_max: {}, keep_checkpoint_every_n_hours: {}, "
      "log_step_count_steps: {}, session_creation_timeout_secs: {}, threads: {}, host_devices: {}",
      config.model_dir, optional(config.random_seed), config.save_summary_steps,
      optional(config.save_checkpoints_steps), optional(config.save_checkpoints_secs),
      config.keep_checkpoint_max, config.keep_checkpoint_every_n_hours, config.log_step_count_steps,
      config.session_creation_timeout_secs, config.session.threads, config.session.host_devices);
  const dist::Task& task = config.task;
  text += fmt::format(
      ", task_type: {}, task_id: {}, is_chief: {}, num_ps_replicas: {}, num_worker_replicas: {}, "
      "environment: {}, master: '{}', evaluation_master: '{}', global_id_in_cluster: {}",
      task.type, task.index, task.is_chief, task.num_ps, task.num_workers, task.environment,
      task.master, task.evaluation_master, optional(task.global_id));
  return text;
}

}  // namespace sextant
