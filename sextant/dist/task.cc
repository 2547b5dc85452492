#include "sextant/dist/task.h"

#include <algorithm>
#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/dist/task_config.h"

namespace sextant::dist {
namespace {

constexpr int kDefaultPort = 2222;  // Kubeflow's

int CountOf(const ClusterSpec& cluster, const std::string& job) {
  const auto found = cluster.find(job);
  return found == cluster.end() ? 0 : static_cast<int>(found->second.size());
}

std::string JobNames(const ClusterSpec& cluster) {
  std::string names;
  for (const auto& [job, tasks] : cluster) {
    names += (names.empty() ? "" : ", ") + job + " (" + std::to_string(tasks.size()) + ")";
  }
  return names;
}

std::string ChiefJob(const ClusterSpec& cluster, bool dynamic, const std::string& type) {
  for (const char* job : {"chief", "master"}) {
    if (cluster.contains(job) || (dynamic && type == job)) return job;
  }
  return "worker";
}

int GlobalId(const Task& task, const std::string& chief) {
  int id = 0;
  const auto passed = [&](const std::string& job) {
    if (job == task.type) return true;
    id += CountOf(task.cluster, job);
    return false;
  };
  if (passed(chief)) return task.index;
  for (const auto& [job, tasks] : task.cluster) {
    if (job != chief && job != "ps" && passed(job)) return id + task.index;
  }
  return id + task.index;
}

// The task of a process on its own.
void CheckAlone(const Task& task, const std::string& source) {
  if (task.type != "worker" || task.index != 0) {
    throw InvalidArgument(
        "{} names task {} {} but no cluster; add \"cluster\", or leave \"task\" out to run in one "
        "process",
        source, task.type, task.index);
  }
}

void CheckChief(const Task& task, const std::string& chief, const std::string& source) {
  if (task.cluster.contains("chief") && task.cluster.contains("master")) {
    throw InvalidArgument("the cluster of {} has both a \"chief\" and a \"master\"; keep one",
                          source);
  }
  const int chiefs = CountOf(task.cluster, chief);
  if (task.dynamic || (chief == "worker" ? chiefs > 0 : chiefs == 1)) return;
  throw InvalidArgument(
      "the cluster of {} must have exactly one \"chief\" (or \"master\"), or workers of which the "
      "first is the chief, but has the jobs {}",
      source, JobNames(task.cluster));
}

void CheckTask(const Task& task, const std::string& source) {
  if (!task.cluster.contains(task.type)) {
    throw InvalidArgument("task type \"{}\" of {} is not a job of its cluster, which has {}",
                          task.type, source, JobNames(task.cluster));
  }
  if (task.index >= CountOf(task.cluster, task.type)) {
    throw InvalidArgument("task index {} of {} is out of range: its cluster has {}", task.index,
                          source, JobNames(task.cluster));
  }
}

// Own address of a task that a dynamic cluster does not list: it may be the only entry of its job
// (a parameter server sees itself alone, at index 0), or tell the port.
void FindOwnAddress(Task& task) {
  std::vector<std::string>& own = task.cluster[task.type];
  const size_t index = task.index;
  if (index < own.size() && !own[index].empty()) {
    task.address = own[index];
    return;
  }
  const auto told = std::find_if(own.begin(), own.end(), [](const auto& a) { return !a.empty(); });
  const auto count =
      std::count_if(own.begin(), own.end(), [](const auto& a) { return !a.empty(); });
  if (count == 1 && index >= own.size()) {
    task.address = *told;
    own.assign(index + 1, "");
    own[index] = task.address;
  } else {
    const int port = count == 0 ? kDefaultPort : ParseAddress(*told).port;
    task.address = "0.0.0.0:" + std::to_string(port);
    own.resize(std::max(own.size(), index + 1));
  }
  LogInfo("the cluster does not list {} {}: taking {} for its address", task.type, task.index,
          task.address);
}

void FillInEvaluator(Task& task, const std::string& source) {
  if (task.cluster.contains("master")) {
    throw InvalidArgument(
        "{} names an evaluator, but a cluster with a \"master\" evaluates there; name it \"chief\" "
        "to have evaluators",
        source);
  }
  task.cluster.clear();
  task.num_ps = task.num_workers = task.num_replicas = 0;
  task.is_chief = false;
  task.global_id.reset();
  task.rank.reset();
}

void FillInCluster(Task& task, const TaskConfig& config) {
  const bool rules_of_2017 = (config.environment == "cloud" || config.environment == "local") &&
                             !task.cluster.contains("chief");
  if (config.type.empty() || (!config.index && !rules_of_2017)) {
    throw InvalidArgument(
        "{} has a cluster ({}) but no task {}; add \"task\": {{\"type\": ..., \"index\": ...}}",
        config.source, JobNames(task.cluster), config.type.empty() ? "type" : "index");
  }
  if (task.type == "evaluator") return FillInEvaluator(task, config.source);
  const std::string chief = ChiefJob(task.cluster, task.dynamic, task.type);
  CheckChief(task, chief, config.source);
  if (!task.dynamic) CheckTask(task, config.source);
  FindOwnAddress(task);
  task.evaluation_master.clear();
  task.num_ps = CountOf(task.cluster, "ps");
  task.num_workers = CountOf(task.cluster, "worker");
  task.num_replicas = task.num_workers + (chief == "worker" ? 0 : 1);
  if (!rules_of_2017) task.num_workers = task.num_replicas;
  if (rules_of_2017 && task.num_workers == 0) task.num_workers = 1;
  task.is_chief = task.type == chief && task.index == 0;
  task.global_id = GlobalId(task, chief);
  if (task.type == "ps") {
    task.rank.reset();
  } else {
    task.rank = task.type == chief || chief == "worker" ? task.index : task.index + 1;
  }
  if (task.master.empty() && !task.local()) task.master = "grpc://" + task.address;
}

Task TaskOf(const TaskConfig& config) {
  Task task;
  task.cluster = config.cluster;
  task.cluster.erase("evaluator");
  task.dynamic = config.dynamic;
  if (!config.environment.empty()) task.environment = config.environment;
  task.model_dir = config.model_dir;
  task.master = config.session_master;
  task.evaluation_master = config.evaluation_master;
  if (!config.type.empty()) task.type = config.type;
  task.index = config.index.value_or(0);
  if (config.cluster.empty() && !config.dynamic) {
    CheckAlone(task, config.source);
  } else {
    FillInCluster(task, config);
  }
  return task;
}

}  // namespace

bool Task::local() const {
  if (type == "ps" || type == "evaluator" || dynamic) return false;
  size_t tasks = 0;
  for (const auto& [job, addresses] : cluster) tasks += addresses.size();
  return tasks <= 1;
}

Task TaskFromTfConfig(std::string_view text) { return TaskOf(ParseTaskConfig(text)); }

Task TaskFromEnvironment() {
  const auto config = FindTaskConfig([](const char* name) { return std::getenv(name); });
  return config ? TaskOf(*config) : Task();
}

}  // namespace sextant::dist
